export { isKnown, isKnownList } from "../core/unknown";
