import { messageOf } from "../../lib/error-message";
import { scanHostKey } from "../../lib/ssh";
import { SSH_PORT } from "../../lib/validation/ports";
import type { InventoryMachine } from "./plan/inventory";

/** A machine with the host key that it shows, or why it shows none. */
export interface CheckedMachine {
  readonly machine: InventoryMachine;
  readonly hostKey?: string;
  readonly why?: string;
}

/** Of each machine; all are asked at once. */
const SECONDS = 10;

/** Reads the host key of each machine at first contact, without logging in. */
export function checkSsh(
  machines: readonly InventoryMachine[],
  user: string,
  seconds = SECONDS,
): Promise<CheckedMachine[]> {
  return Promise.all(
    machines.map(async (machine): Promise<CheckedMachine> => {
      const { name, address, port = SSH_PORT } = machine;
      try {
        return { machine, hostKey: await scanHostKey({ name, address, port, user }, seconds) };
      } catch (error) {
        return { machine, why: messageOf(error) };
      }
    }),
  );
}
