export {
  ReplyLost,
  TumblebugRefusal,
  TumblebugUnreachable,
  UnexpectedAnswer,
  type RefusalCode,
} from "./errors";
export { isRefusal } from "./existence";
export { openTumblebug, type TumblebugOptions, type TumblebugSettings } from "./open";
export type {
  Infrastructures,
  LoadBalancers,
  Namespaces,
  ResourceKind,
  SecurityGroups,
  Tumblebug,
} from "./tumblebug";
