/** What foresail knows of a minor of Kubernetes. */
interface KnownMinor {
  /** its latest patch */
  patch: string;
  /** the last day of its support, YYYY-MM-DD; absent: before foresail's first supported version */
  endOfLife?: string;
}

/**
 * The minors of Kubernetes as of 2026-11-27. Patches: the tags of k8s.io/kubernetes, by `npm run minors`; ends of
 * support: kubernetes.io/releases. A rollout over several minors stops at these patches; newer ones can be named in
 * `rollout.intermediateVersions`.
 */
export const KUBERNETES_MINORS: Readonly<Record<string, KnownMinor>> = {
  "1.25": { patch: "1.25.16" },
  "1.26": { patch: "1.26.15" },
  "1.27": { patch: "1.27.16" },
  "1.28": { patch: "1.28.15" },
  "1.29": { patch: "1.29.15" },
  "1.30": { patch: "1.30.14" },
  "1.31": { patch: "1.31.14" },
  "1.32": { patch: "1.32.13" },
  "1.33": { patch: "1.33.13", endOfLife: "2026-06-28" },
  "1.34": { patch: "1.34.4", endOfLife: "2026-10-27" },
  "1.35": { patch: "1.35.4", endOfLife: "2027-02-28" },
  "1.36": { patch: "1.36.3", endOfLife: "2027-06-28" },
  "1.37": { patch: "1.37.2", endOfLife: "2027-10-28" },
};

/** The newest patch of all, as messages name a version. */
export const NEWEST_VERSION = Object.values(KUBERNETES_MINORS).at(-1)?.patch ?? "";
