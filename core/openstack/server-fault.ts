/**
 * What is said of a server that the cloud could not make, while its provider says no more than that it is in state ERROR.
 * @param fault in the cloud's words
 */
export function serverFaultAdvice(server: string, fault: string): string {
  const todo = /no valid host/i.test(fault)
    ? "no host of the cloud has room for such a server: take another flavour, image or zone, or ask the cloud's operator for room"
    : /quota exceeded/i.test(fault)
      ? "ask for more of the quota, or take fewer or smaller machines"
      : "take another flavour, image or zone";
  const reason = fault.replace(/\.?\s*$/, ".");
  return `${server} could not be made: ${reason} What to do: ${todo}; then run the same again, what was made is kept`;
}
