const isOfVolume = (fault: string): boolean => /\b(volume|cinder|block device)/i.test(fault);

const isOfQuota = (fault: string): boolean => /quota exceeded|exceed\w* .*\bquota/i.test(fault);

/**
 * Returns the message about a server that the cloud could not create. Pulumi's OpenStack provider reports only ERROR.
 *
 * @param fault the cloud's reason
 */
export function serverFaultAdvice(server: string, fault: string): string {
  const todo = /no valid host/i.test(fault)
    ? "no host of the cloud has room for such a server: choose another flavor, image or zone, or ask the cloud's operator for room"
    : isOfQuota(fault)
      ? "ask for more of the quota, or take fewer or smaller machines"
      : isOfVolume(fault)
        ? "take another `rootVolume`, or ask the cloud's operator why Cinder did not make this one"
        : "choose another flavor, image or zone";
  const reason = fault.replace(/\.?\s*$/, ".");
  return `${server} could not be made: ${reason} What to do: ${todo}; then run the same again, what was made is kept`;
}

/**
 * Returns the preview's remediation for a failed server, as the beginning of a sentence.
 *
 * @param fault the cloud's reason
 */
export function failedServerRemedy(fault: string): string {
  if (isOfQuota(fault)) return "Ask for more of the quota";
  return isOfVolume(fault) ? "Take another `rootVolume`" : "Choose another flavor, image or zone";
}
