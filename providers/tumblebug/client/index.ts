export { openTumblebug, type Tumblebug } from "./client";
export * from "./errors";
export type { TumblebugOptions, TumblebugSettings } from "./api";
export type { FoundRecord, Infrastructure } from "./dialect";
export type { Objects } from "./objects";
