import { type Inventory, InventoryError, type ListedMachine, nameMachines } from "./inventory";

const ROLES = ["control-plane", "worker"] as const;
/** user@address:port */
const PLACE = /^(?:([^@\s]+)@)?([^@:\s]+)(?::(\d{1,5}))?$/;

const FORM = "write NAME [USER@]ADDRESS[:PORT] control-plane|worker";

/**
 * Reads a list with one machine a line: its name, its address and its role. Lines that begin with # are comments.
 *
 * @throws InventoryError
 */
export function readMachineList(text: string): Inventory {
  const issues: string[] = [];
  const listed = text.split(/\r?\n/).flatMap((line, index): ListedMachine[] => {
    const words = line.replace(/#.*/, "").trim().split(/\s+/);
    if (words[0] === "") return [];
    const [name, place = "", written, ...rest] = words;
    const role = ROLES.find((each) => each === written);
    const [, user, address, port] = PLACE.exec(place) ?? [];
    if (address === undefined || role === undefined || rest.length > 0) {
      issues.push(`line ${index + 1}: ${FORM}`);
      return [];
    }
    return [{ name, role, address, user, port: port === undefined ? undefined : Number(port) }];
  });
  if (issues.length > 0) throw new InventoryError(issues.join("\n"));
  return { machines: nameMachines(listed), notes: [] };
}
