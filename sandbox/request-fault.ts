/** What happens to a request before, after or instead of its processing. */
export type Effect =
  /** a response with this status; the request is not processed */
  | { readonly kind: "status"; readonly status: number; readonly message?: string }
  /** it is carried out after a pause */
  | { readonly kind: "delay"; readonly milliseconds: number }
  /** it is carried out, and the connection is cut before the answer */
  | { readonly kind: "lost-reply" }
  /** the connection is cut at once, and nothing is carried out */
  | { readonly kind: "refused" };

/** A fault that a simulated server injects into requests. */
export interface RequestFault<E = Effect> {
  readonly effect: E;
  /** such as "POST"; absent: any */
  readonly method?: string;
  /** a regular expression that the path with its query has to match; absent: any */
  readonly path?: string;
  /** for how many requests; absent: for all, until it is removed */
  readonly times?: number;
}

/** How often a fault happened. */
export interface Happening {
  readonly id: number;
  readonly happened: number;
}

/** Returns the first fault that applies to a request. */
export function findRequestFault<F extends RequestFault<unknown> & Happening>(
  faults: readonly F[],
  request: { readonly method: string; readonly path: string },
): F | undefined {
  return faults.find(
    (fault) =>
      (fault.method === undefined || fault.method === request.method) &&
      (fault.path === undefined || new RegExp(fault.path).test(request.path)) &&
      !isSpent(fault),
  );
}

/** Returns whether a fault has happened as often as requested. */
export function isSpent(fault: { readonly times?: number } & Happening): boolean {
  return fault.times !== undefined && fault.happened >= fault.times;
}
