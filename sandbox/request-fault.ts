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

/** A fault that requests to a stand-in server meet. */
export interface RequestFault<E = Effect> {
  readonly effect: E;
  /** such as "POST"; absent: any */
  readonly method?: string;
  /** a regular expression that the path with its query has to match; absent: any */
  readonly path?: string;
  /** for how many requests; absent: for all, until it is taken back */
  readonly times?: number;
}

/** How often a fault happened. */
export interface Happening {
  readonly id: number;
  readonly happened: number;
}

/** The first fault that a request meets. */
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

/** Whether a fault has happened as often as was asked. */
export function isSpent(fault: { readonly times?: number } & Happening): boolean {
  return fault.times !== undefined && fault.happened >= fault.times;
}
