import type { Body } from "./wire";

/** A request as the routes see it. */
export interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Body;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface Route {
  readonly method: string;
  /** such as "/ns/:ns/mcis/:id" */
  readonly path: string;
  readonly handle: (asked: Asked) => Answer | Promise<Answer>;
}

/** A successful response. */
export function ok(body: unknown, status = 200): Answer {
  return { status, body };
}

/** Finds the route of a path and its parameters; undefined when there is none. */
export function findRoute(
  routes: readonly Route[],
  method: string,
  path: string,
): { route: Route; params: Record<string, string> } | undefined {
  const parts = path.split("/");
  for (const route of routes) {
    if (route.method !== method) continue;
    const wanted = route.path.split("/");
    if (wanted.length !== parts.length) continue;
    const fits = wanted.every((part, index) => part.startsWith(":") || part === parts[index]);
    if (!fits) continue;
    const params = wanted.flatMap((part, index) =>
      part.startsWith(":") ? [[part.slice(1), decodeURIComponent(parts[index] ?? "")]] : [],
    );
    return { route, params: Object.fromEntries(params) as Record<string, string> };
  }
  return undefined;
}
