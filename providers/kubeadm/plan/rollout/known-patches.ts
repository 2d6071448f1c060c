/**
 * The latest patch of each minor at the time of this foresail release (the tags of k8s.io/kubernetes). A rollout
 * over several minors stops at them. Newer patches can be named in `rollout.intermediateVersions`.
 */
export const KNOWN_PATCHES: Readonly<Record<string, string>> = {
  "1.25": "1.25.16",
  "1.26": "1.26.15",
  "1.27": "1.27.16",
  "1.28": "1.28.15",
  "1.29": "1.29.15",
  "1.30": "1.30.14",
  "1.31": "1.31.14",
  "1.32": "1.32.13",
  "1.33": "1.33.13",
  "1.34": "1.34.4",
  "1.35": "1.35.4",
  "1.36": "1.36.3",
};
