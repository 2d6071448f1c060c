// Seals $OUT/plan.json for the pull request $PULL_REQUEST (`write`), or ends with an error unless the seal beside it is right
// (`check`). The key is a secret of the environments of the preview and of main's apply, which only jobs of main's own
// workflows get: no branch can seal a plan, whatever its workflows write into comments, artifacts and runs.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { variable } from "./github.mjs";

const SHORTEST_KEY = 32;
const [plan, file] = ["plan.json", "plan.seal"].map((name) => `${variable("OUT")}/${name}`);

const fail = (why) => {
  console.log(`::error::${why}`);
  process.exit(1);
};

function seal() {
  const key = process.env.FORESAIL_PLAN_KEY ?? "";
  if (key.length < SHORTEST_KEY)
    fail(
      `FORESAIL_PLAN_KEY has to have at least ${SHORTEST_KEY} characters. Make one with "openssl rand -hex 32", and set it as a secret of both environments of the stack, limited to main.`,
    );
  const sha256 = createHash("sha256").update(readFileSync(plan)).digest("hex");
  const sealed = [
    ...["foresail plan, version 1", sha256],
    ...["GITHUB_REPOSITORY", "STACK", "PULL_REQUEST", "HEAD_SHA", "PLAN_NAME", "PLAN_RUN_ID"].map(variable),
  ];
  return createHmac("sha256", key).update(JSON.stringify(sealed)).digest("hex");
}

switch (process.argv[2]) {
  case "write":
    writeFileSync(file, `${seal()}\n`);
    break;
  case "check": {
    let found = "";
    try {
      found = readFileSync(file, "utf8").trim();
    } catch {
      // as a wrong one
    }
    const [one, other] = [seal(), found].map((text) => createHash("sha256").update(text).digest());
    if (!timingSafeEqual(one, other))
      fail(
        `The plan of ${variable("STACK")} in run ${variable("PLAN_RUN_ID")} was not sealed by main's preview of pull request ${variable("PULL_REQUEST")}; nothing was changed. Preview and review the change in a new pull request.`,
      );
    console.log(`main's preview of pull request ${variable("PULL_REQUEST")} made this plan`);
    break;
  }
  default:
    throw new Error("name what to do: write or check");
}
