import type { HttpResponse } from "./http-client";

/**
 * Returns for how many seconds a server asks to wait before the next request, by its Retry-After: a number of seconds or a
 * date. Returns 0 if it asks for no wait.
 */
export function retryAfterSeconds({ headers }: Pick<HttpResponse, "headers">, now = Date.now()): number {
  const [asked = ""] = [headers["retry-after"]].flat();
  if (/^\d+$/.test(asked.trim())) return Number(asked);
  // a date without a name of a day would be any text that ends with a number
  const date = /^[A-Z][a-z]{2,8},? /.test(asked) ? Date.parse(asked) : NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, (date - now) / 1000);
}
