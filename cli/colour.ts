/**
 * The engine's `--color` for what is shown on a stream: it writes to a pipe of ours, so it can't tell by itself.
 * NO_COLOR (https://no-color.org) and a stream that is no terminal keep it plain.
 */
export function colourOfStream(
  stream: { readonly isTTY?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): "always" | "never" {
  const refused = (environment["NO_COLOR"] ?? "") !== "";
  return stream.isTTY === true && !refused ? "always" : "never";
}
