/**
 * Where official downloads are fetched from. FORESAIL_DOWNLOADS=off skips them; FORESAIL_DOWNLOADS=URL asks a mirror
 * that keeps each host in a folder: https://get.pulumi.com/x becomes URL/get.pulumi.com/x.
 * @returns the URL to ask, or undefined when downloads are off
 */
export function sourceUrl(url: string, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const mirror = environment["FORESAIL_DOWNLOADS"] ?? "";
  if (mirror === "") return url;
  if (mirror === "off") return undefined;
  const { host, pathname } = new URL(url);
  return `${mirror.replace(/\/$/, "")}/${host}${pathname}`;
}
