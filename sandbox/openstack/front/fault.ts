import { findRequestFault, type Effect, type Happening, type RequestFault } from "../../request-fault";
import type { ServiceName } from "../settings";

export { isSpent, type Effect } from "../../request-fault";

/** A requested fault. */
export interface Fault extends RequestFault<Effect> {
  readonly service: ServiceName;
}

/** An active fault, and how often it happened. */
export interface HeldFault extends Fault, Happening {}

/** Returns the first fault that applies to a request. */
export function findFault(
  faults: readonly HeldFault[],
  request: { readonly service: ServiceName; readonly method: string; readonly path: string },
): HeldFault | undefined {
  return findRequestFault(
    faults.filter(({ service }) => service === request.service),
    request,
  );
}

/** Returns an error in the format of OpenStack's services. */
export function errorBody(status: number, message: string): string {
  return JSON.stringify({ error: { code: status, title: "Injected fault", message } });
}
