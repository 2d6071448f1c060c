import type { MachineState } from "./fleet-files";

/** The names in the mark that a script expects; undefined for a script that knows none. */
export function markerOf(text: string): string | undefined {
  return /'(cluster=\S+ machine=[^']+)'/.exec(text)?.[1];
}

const valueOf = (text: string, name: string): string =>
  new RegExp(`^${name}='(.*)'$`, "m").exec(text)?.[1] ?? "";

/** The mark that a script writes, as owner.sh does. */
export function fullMarkOf(text: string): string | undefined {
  const [id, stack] = [valueOf(text, "OWNER_ID"), valueOf(text, "OWNER_STACK")];
  return id === "" ? markerOf(text) : `${markerOf(text)} stack=${stack} id=${id}`;
}

/** Whether a machine has the mark of another cluster, machine or stack. */
export function isOfOthers({ marker }: MachineState, text: string): boolean {
  if (marker === undefined) return false;
  const [names = "", owner = ""] = marker.split(" stack=");
  const id = owner.split(" id=")[1];
  if (names !== markerOf(text)) return true;
  return id !== undefined && ![valueOf(text, "OWNER_ID"), valueOf(text, "TAKE_OVER")].includes(id);
}

/** Whether a machine has the mark of an earlier release, which names no stack, and the script has an identity. */
export const isUnnamed = ({ marker }: MachineState, text: string): boolean =>
  marker !== undefined &&
  !marker.includes(" id=") &&
  valueOf(text, "OWNER_ID") !== "" &&
  valueOf(text, "TAKE_OVER") !== "unmarked";
