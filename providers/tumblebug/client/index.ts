export { openTumblebug, type Tumblebug } from "./client";
export {
  isRefusal,
  ReplyLost,
  TumblebugRefusal,
  TumblebugUnreachable,
  UnexpectedAnswer,
  type RefusalCode,
} from "./errors";
export type { TumblebugOptions, TumblebugSettings } from "./api";
export type { ResourceKind } from "./objects";
