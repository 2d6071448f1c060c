import type { Context } from "./kubeconfig-contexts";
import { isObject } from "../json";

/**
 * Returns the headers with which calls act as another user, as kubectl sends them for `as`, `as-uid`, `as-groups` and
 * `as-user-extra`.
 *
 * @throws Error that begins with the path of a field, and has never its value
 */
export function impersonationHeaders({ user, paths }: Pick<Context, "user" | "paths">): Headers {
  const { as, "as-uid": uid, "as-groups": groups, "as-user-extra": extra } = user;
  const refuse = (field: string, issue: string): never => {
    throw new Error(`${paths.user}.${field} ${issue}; correct it, or remove it`);
  };
  const texts = (field: string, value: unknown): string[] => {
    if (isNone(value)) return [];
    const list = Array.isArray(value) ? value : [value];
    return list.every(isHeader) ? list : refuse(field, "is not text of Latin letters on one line");
  };
  const isOne = (value: unknown) => isNone(value) || typeof value === "string";
  if (!isOne(as)) refuse("as", "is not the name of a user");
  if (!isOne(uid)) refuse("as-uid", "is not a text");
  if (!isNone(groups) && !Array.isArray(groups)) refuse("as-groups", "is not a list");
  if (!isNone(extra) && !isObject(extra)) refuse("as-user-extra", "is not a map of lists");
  const headers: Headers = {
    "Impersonate-User": texts("as", as),
    "Impersonate-Uid": texts("as-uid", uid),
    "Impersonate-Group": texts("as-groups", groups),
  };
  for (const [key, value] of Object.entries(extra ?? {}))
    headers[`Impersonate-Extra-${escaped(key)}`] = texts("as-user-extra", value);
  const used = Object.entries(headers).filter(([, values]) => values.length > 0);
  if (used.length > 0 && isNone(as)) refuse("as", "is missing, and a group, uid or extra is there");
  return Object.fromEntries(used);
}

type Headers = Record<string, string[]>;

const isNone = (value: unknown): boolean => value === undefined || value === null || value === "";

const isHeader = (value: unknown): value is string =>
  typeof value === "string" && /^[\x20-\x7e\xa0-\xff]+$/.test(value);

/** Percent-encodes what the name of a header can't have, as the client library of Kubernetes does. */
const escaped = (key: string): string =>
  encodeURIComponent(key).replace(/[()]/g, (each) => `%${each.charCodeAt(0).toString(16)}`);
