/*
 * Keeps providers/kubeadm/plan/cluster/kubernetes-minors.ts current.
 *   npm run minors          writes the newest patch of each minor, as the Go module proxy has them, and today's date
 *   npm run lint -- minors  warns of a table that is 60 days old, and fails for one of 120
 */
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

const FILE = path.join(__dirname, "..", "providers", "kubeadm", "plan", "cluster", "kubernetes-minors.ts");
const MODULE = "k8s.io/kubernetes";
const DATE = /(The minors of Kubernetes as of )(\d{4}-\d\d-\d\d)/;
const ROW = /^( {2}"(1\.\d+)": \{ patch: ")(1\.\d+\.\d+)(".*)$/gm;
const DAY = 86_400_000;
const WARN_DAYS = 60;
const FAIL_DAYS = 120;

/** Returns the newest stable patch of each minor among tags such as "v1.36.3", without other tags. */
function newestPatches(tags) {
  const newest = new Map();
  for (const tag of tags) {
    const [, minor, patch] = /^v(1\.\d+)\.(\d+)$/.exec(tag) ?? [];
    if (minor !== undefined && Number(patch) >= Number((newest.get(minor) ?? "0.0.-1").split(".")[2]))
      newest.set(minor, `${minor}.${patch}`);
  }
  return newest;
}

/**
 * Returns the table's file with the newest patches and the date. Never an older patch: a proxy may not have all.
 *
 * @throws Error for a minor that is newer than the table, since nobody has said when its support ends
 */
function updated(text, newest, date) {
  const known = [...text.matchAll(ROW)].map(([, , minor]) => Number(minor.split(".")[1]));
  const unknown = [...newest.keys()].filter((minor) => Number(minor.split(".")[1]) > Math.max(...known));
  if (unknown.length > 0)
    throw new Error(
      `Kubernetes ${unknown.join(", ")} is not in the table: add it with its end of support (kubernetes.io/releases), ` +
        `then its fields (npm run fields), and run this again`,
    );
  return text
    .replace(ROW, (_row, start, minor, patch, end) => {
      const found = newest.get(minor) ?? patch;
      const isNewer = Number(found.split(".")[2]) > Number(patch.split(".")[2]);
      return `${start}${isNewer ? found : patch}${end}`;
    })
    .replace(DATE, `$1${date}`);
}

/** Returns the age of the table in whole days, and what lint says about it. */
function judgeAge(text, now) {
  const written = DATE.exec(text)?.[2];
  if (written === undefined) return { failed: true, line: `${path.basename(FILE)} names no date` };
  const days = Math.floor((now - Date.parse(written)) / DAY);
  const line = `the table of Kubernetes' minors is ${days} days old: npm run minors`;
  return { failed: days >= FAIL_DAYS, ...(days >= WARN_DAYS ? { line } : {}) };
}

function main([command]) {
  const text = fs.readFileSync(FILE, "utf8");
  if (command === "--age") {
    const { failed, line } = judgeAge(text, Date.now());
    if (line !== undefined) console.error(`${failed ? "error" : "warning"}: ${line}`);
    process.exitCode = failed ? 1 : 0;
    return;
  }
  // outside the project, whose folders have modules of their own
  const listed = execFileSync("go", ["list", "-m", "-versions", MODULE], {
    cwd: os.tmpdir(),
    encoding: "utf8",
  });
  const date = new Date().toISOString().slice(0, 10);
  fs.writeFileSync(FILE, updated(text, newestPatches(listed.trim().split(/\s+/).slice(1)), date));
}

module.exports = { newestPatches, updated, judgeAge };
if (require.main === module) main(process.argv.slice(2));
