import { rmSync } from "node:fs";
import path from "node:path";
import type { Machine } from "../../providers/kubeadm/plan/cluster/machine";
import { NodeFleet } from "../../sandbox/nodes";
import { nodeKeyFile } from "../../sandbox/nodes/paths";
import { projectFolder } from "../../sandbox/paths";
import type { Size } from "../../sandbox/systems/cluster-size";
import { ANSIBLE_VERSION, ensureAnsible } from "../ansible";
import { runCommand } from "../command";
import { costOf } from "../cost";
import { upProfile } from "./up-profile";
import { removedAfter } from "../interrupts";
import { freshFixture, type Fixture } from "../fixture";
import type { BenchContext, Measured, Measurement } from "../measurement";
import { renderSteps } from "../rendered-steps";
import { ReviewedUp } from "../reviewed-up";
import { ratioTo, type Row } from "../results";
import { pairedRatio, summarize } from "../statistics";

const SIZES: readonly Size[] = [
  { controlPlanes: 1, workers: 1 },
  { controlPlanes: 3, workers: 2 },
];
/** It takes longer than the others together. */
const LARGE: Size = { controlPlanes: 3, workers: 10 };
const ROUNDS = 5;
const MOST = 1.1;
const LIMIT_SECONDS = 600;

type Contestant = "script" | "ansible" | "pulumi" | "plan";
const CONTESTANTS: readonly Contestant[] = ["script", "ansible", "pulumi", "plan"];
/** Both ways to run foresail. */
const OWN: Readonly<Record<"pulumi" | "plan", string>> = {
  pulumi: "`pulumi up`",
  plan: "`foresail up --plan`",
};

/** A whole cluster on fresh machines, against the same steps by hand and by Ansible. */
export const up: Measurement = {
  name: "up",
  title: "A new cluster",
  summary:
    "foresail's first `up` of 1+1 and 3+2 on fresh machines, against one shell script and an Ansible playbook",
  profile: upProfile,
  measure: (context) => measureSizes(context, SIZES),
};

export const upLarge: Measurement = {
  name: "up-large",
  title: "A new cluster with ten workers",
  summary: "the same of 3+10",
  measure: (context) => measureSizes(context, [LARGE]),
};

const NOTES = [
  "Fresh container nodes before each run, in changing order; making them is not counted.",
  "All run the same scripts on the machines. The shell script is the floor: bench/floor/cluster.sh, one SSH connection " +
    "a machine, everything in parallel that can be. `pulumi up` has its preview in it; `foresail up --plan` compares with a plan that was made before.",
  `Ansible ${ANSIBLE_VERSION} with pipelining, a shared connection a machine and 20 forks: bench/ansible/cluster.yaml. ` +
    "The Python that it needs on the machines is put there before, and not counted.",
  "foresail alone also sets labels, holds the Lease, revokes its token, installs an agent on each node and waits for its report, and reads the kubeconfig.",
];

async function measureSizes(context: BenchContext, sizes: readonly Size[]): Promise<Measured> {
  const playbook = await context.report.step("Ansible", ensureAnsible);
  const fleet = new NodeFleet("bench");
  const rows: Row[] = [];
  await removedAfter(
    () => fleet.deleteAll(),
    async () => {
      for (const size of sizes) rows.push(...(await compare(context, fleet, size, playbook)));
    },
  );
  return { rows, notes: NOTES };
}

async function compare(
  context: BenchContext,
  fleet: NodeFleet,
  size: Size,
  playbook: string,
): Promise<Row[]> {
  const seconds: Record<Contestant, number[]> = { script: [], ansible: [], pulumi: [], plan: [] };
  for (let round = 0; round < (context.rounds ?? ROUNDS); round++) {
    for (const who of rotate(CONTESTANTS, round)) {
      const fixture = await freshFixture(context, fleet, size);
      const took = await run(who, fixture, context, playbook);
      seconds[who].push(took);
      context.say(`${nameOf(size)} ${who}: ${took.toFixed(1)} s`);
    }
  }
  const { script, ansible } = seconds;
  const rowOf = (what: string, measured: number[]): Row => ({
    what: `${what}, ${nameOf(size)}`,
    unit: "s",
    figure: summarize(measured),
    ratio: ratioTo("the script", script, measured),
  });
  const own = (["pulumi", "plan"] as const).map((who): Row => {
    const [toScript, toAnsible] = [pairedRatio(script, seconds[who]), pairedRatio(ansible, seconds[who])];
    const reached = toScript.median <= MOST && toAnsible.median < 1;
    return {
      ...rowOf(OWN[who], seconds[who]),
      wanted: {
        words: `≤ ${MOST} ×, and ahead of Ansible (it is ${toAnsible.median.toFixed(2)} × Ansible)`,
        reached,
      },
    };
  });
  return [
    { what: `shell script, ${nameOf(size)}`, unit: "s", figure: summarize(script) },
    rowOf("Ansible", ansible),
    ...own,
  ];
}

const nameOf = ({ controlPlanes, workers }: Size) => `${controlPlanes}+${workers}`;

/** Returns the list rotated to begin at another item. */
function rotate<Item>(items: readonly Item[], by: number): Item[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

/** Ansible's modules are Python programs; installing Python on the machines is not counted. */
async function installPython(machines: readonly Machine[], work: string): Promise<void> {
  const install = "apt-get update --quiet && apt-get install --yes --quiet --no-install-recommends python3";
  await Promise.all(
    machines.map(({ name }) =>
      runCommand("ssh", ["-F", path.join(work, "ssh_config"), name, `sudo -n sh -c '${install}'`], {
        seconds: 300,
      }),
    ),
  );
}

/** Returns how long one of them took for the whole cluster, in seconds; what it needs before is not counted. */
async function run(
  who: Contestant,
  { stack, content, specification, machines }: Fixture,
  { toolchain, load }: BenchContext,
  playbook: string,
): Promise<number> {
  const work = renderSteps(specification, machines, nodeKeyFile);
  const reviewed = who === "plan" ? await ReviewedUp.make(toolchain, content) : undefined;
  try {
    if (who === "ansible") await installPython(machines, work);
    await load.settle();
    const runs: Record<Contestant, () => Promise<unknown>> = {
      script: () => runScript(work),
      ansible: () => runPlaybook(playbook, work),
      pulumi: () => stack.up(),
      plan: async () => reviewed?.run(),
    };
    return (await costOf(runs[who])).seconds;
  } finally {
    reviewed?.delete();
    stack.delete();
    rmSync(work, { recursive: true, force: true });
  }
}

const folder = path.join(projectFolder, "bench");

const runScript = (work: string): Promise<void> =>
  runCommand("bash", [path.join(folder, "floor", "cluster.sh"), work], { seconds: LIMIT_SECONDS });

function runPlaybook(program: string, work: string): Promise<void> {
  const args = ["--inventory", path.join(work, "inventory"), path.join(folder, "ansible", "cluster.yaml")];
  const environment = {
    ...process.env,
    ANSIBLE_CONFIG: path.join(folder, "ansible", "ansible.cfg"),
    ANSIBLE_HOME: path.join(work, "ansible"),
    ANSIBLE_SSH_CONTROL_PATH_DIR: path.join(work, "connections"),
    ANSIBLE_LOCAL_TEMP: path.join(work, "temporary"),
  };
  return runCommand(program, args, { seconds: LIMIT_SECONDS, environment });
}
