/**
 * What is wrong with an http(s) URL, or undefined. The value is not repeated when it holds a password.
 * @param schemes schemes that are accepted, without the colon
 */
export function urlMistake(text: string, schemes: readonly string[] = ["https", "http"]): string | undefined {
  const example = `write e.g. "${schemes[0] ?? "https"}://host.example.com/path"`;
  if (!URL.canParse(text) || !text.includes("://") || /\s/.test(text))
    return `${quoteUnlessSecret(text)} is not a URL; ${example}`;
  const url = new URL(text);
  if (!schemes.includes(url.protocol.slice(0, -1)))
    return `${quoteUnlessSecret(text)} is not an ${schemes.join(" or ")} URL; ${example}`;
  if (url.username !== "" || url.password !== "")
    return "holds a user or password, which would be stored and shown in plain; remove them";
  if (url.hostname === "") return `"${text}" has no host; ${example}`;
  return undefined;
}

const quoteUnlessSecret = (text: string) => (text.includes("@") ? "the value" : JSON.stringify(text));
