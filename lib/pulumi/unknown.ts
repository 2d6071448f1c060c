export { isKnown, isKnownList } from "../unknown";
