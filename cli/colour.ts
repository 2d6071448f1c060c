/**
 * Returns the engine's `--color` for output on a stream. The engine writes to a pipe, so it can't detect the terminal
 * itself. NO_COLOR (https://no-color.org) and a stream that is not a terminal disable colors.
 */
export function colourOfStream(
  stream: { readonly isTTY?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): "always" | "never" {
  const refused = (environment["NO_COLOR"] ?? "") !== "";
  return stream.isTTY === true && !refused ? "always" : "never";
}
