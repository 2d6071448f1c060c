import { parse, stringify } from "yaml";
import { isObject } from "../../../../../lib/json";

/** Merges a patch into an object, as in RFC 7396. */
function merged(object: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(object) ? { ...object } : {};
  for (const [key, value] of Object.entries(patch))
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  return result;
}

/** `kubectl patch --local --filename - --patch PATCH --output yaml`: prints plain YAML with sorted keys, of objects with a kind. */
if (require.main === module) {
  let text = "";
  process.stdin.on("data", (chunk: Buffer) => (text += chunk.toString()));
  process.stdin.on("end", () => {
    const object: unknown = parse(text);
    if (!isObject(object) || object["kind"] === undefined) {
      process.stderr.write("error: Object 'Kind' is missing\n");
      process.exit(1);
    }
    const patched = merged(object, JSON.parse(process.argv[2] ?? "{}"));
    process.stdout.write(stringify(patched, { indentSeq: false, sortMapEntries: true }));
  });
}

/** A case of a shell program kubectl for that command, which the real one runs without a server, too. */
export const LOCAL_KUBECTL = `if [ "$1 $2" = "patch --local" ]; then exec ${process.execPath} ${__filename} "$8"; fi`;
