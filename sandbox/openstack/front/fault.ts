import { findRequestFault, type Effect, type Happening, type RequestFault } from "../../request-fault";
import type { ServiceName } from "../settings";

export { isSpent, type Effect } from "../../request-fault";

/** A fault that is asked for. */
export interface Fault extends RequestFault<Effect> {
  readonly service: ServiceName;
}

/** A fault that holds, and how often it happened. */
export interface HeldFault extends Fault, Happening {}

/** The first fault that a request meets. */
export function findFault(
  faults: readonly HeldFault[],
  request: { readonly service: ServiceName; readonly method: string; readonly path: string },
): HeldFault | undefined {
  return findRequestFault(
    faults.filter(({ service }) => service === request.service),
    request,
  );
}

/** An error as OpenStack's services word it. */
export function errorBody(status: number, message: string): string {
  return JSON.stringify({ error: { code: status, title: "Injected fault", message } });
}
