const isOfVolume = (fault: string): boolean => /\b(volume|cinder|block device)/i.test(fault);

const isOfQuota = (fault: string): boolean => /quota exceeded|exceed\w* .*\bquota/i.test(fault);

/**
 * What is said of a server that the cloud could not make, while its provider says no more than that it is in state ERROR.
 * @param fault in the cloud's words
 */
export function serverFaultAdvice(server: string, fault: string): string {
  const todo = /no valid host/i.test(fault)
    ? "no host of the cloud has room for such a server: take another flavour, image or zone, or ask the cloud's operator for room"
    : isOfQuota(fault)
      ? "ask for more of the quota, or take fewer or smaller machines"
      : isOfVolume(fault)
        ? "take another `rootVolume`, or ask the cloud's operator why Cinder did not make this one"
        : "take another flavour, image or zone";
  const reason = fault.replace(/\.?\s*$/, ".");
  return `${server} could not be made: ${reason} What to do: ${todo}; then run the same again, what was made is kept`;
}

/**
 * What a preview says to do about a server that is there and will never work, as the beginning of a sentence.
 * @param fault in the cloud's words
 */
export function failedServerRemedy(fault: string): string {
  if (isOfQuota(fault)) return "Ask for more of the quota";
  return isOfVolume(fault) ? "Take another `rootVolume`" : "Take another flavour, image or zone";
}
