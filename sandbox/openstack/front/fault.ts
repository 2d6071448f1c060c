import type { ServiceName } from "../settings";

/** What happens to a request instead of, before or after its being carried out. */
export type Effect =
  /** an answer of the status, and nothing is carried out */
  | { readonly kind: "status"; readonly status: number; readonly message?: string }
  /** it is carried out after a pause */
  | { readonly kind: "delay"; readonly milliseconds: number }
  /** it is carried out, and the connection is cut before the answer */
  | { readonly kind: "lost-reply" }
  /** the connection is cut at once, and nothing is carried out */
  | { readonly kind: "refused" };

/** A fault that is asked for. */
export interface Fault {
  readonly service: ServiceName;
  readonly effect: Effect;
  /** such as "POST"; absent: any */
  readonly method?: string;
  /** a regular expression that the path with its query has to match; absent: any */
  readonly path?: string;
  /** for how many requests; absent: for all, until it is taken back */
  readonly times?: number;
}

/** A fault that holds, and how often it happened. */
export interface HeldFault extends Fault {
  readonly id: number;
  readonly happened: number;
}

/** The first fault that a request meets. */
export function findFault(
  faults: readonly HeldFault[],
  request: { readonly service: ServiceName; readonly method: string; readonly path: string },
): HeldFault | undefined {
  return faults.find(
    (fault) =>
      fault.service === request.service &&
      (fault.method === undefined || fault.method === request.method) &&
      (fault.path === undefined || new RegExp(fault.path).test(request.path)) &&
      !isSpent(fault),
  );
}

/** Whether a fault has happened as often as was asked. */
export function isSpent(fault: HeldFault): boolean {
  return fault.times !== undefined && fault.happened >= fault.times;
}

/** An error as OpenStack's services word it. */
export function errorBody(status: number, message: string): string {
  return JSON.stringify({ error: { code: status, title: "Injected fault", message } });
}
