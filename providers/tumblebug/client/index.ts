export {
  ReplyLost,
  TumblebugRefusal,
  TumblebugUnreachable,
  UnexpectedAnswer,
  type RefusalCode,
} from "./errors";
export { isRefusal } from "./existence";
export { type TumblebugOptions, type TumblebugSettings } from "./api";
export { openTumblebug } from "./open";
export type {
  Infrastructures,
  LoadBalancers,
  Namespaces,
  ResourceKind,
  SecurityGroups,
  Tumblebug,
} from "./tumblebug";
