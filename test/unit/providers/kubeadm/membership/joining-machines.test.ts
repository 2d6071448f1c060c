import assert from "node:assert/strict";
import { UNKNOWN } from "../../../../../lib/unknown";
import type { NodeGroupInputs } from "../../../../../providers/kubeadm/resources/declarations";
import { examine } from "../../../../../providers/kubeadm/resources/facts/examination";
import { rememberListed } from "../../../../../providers/kubeadm/resources/facts/reading";
import { examineJoining } from "../../../../../providers/kubeadm/resources/membership/joining-machines";
import { nodeGroupSteps } from "../../../../../providers/kubeadm/plan/steps";
import { parseScript } from "../../../../simulation/received-script";
import { type OnCommand, TestSshServer } from "../../../../support/ssh-server";
import { exampleMachine, exampleSpecification } from "../machine/examples";

const READING = { reboot: "yes", prepared: "yes", due: "begin\nfile /etc/own/a", packageLists: "current" };
const FACTS: Record<string, string> = {
  "machine-reading": Object.entries(READING)
    .map(([name, text]) => `${name} ${Buffer.from(text).toString("base64")}\n`)
    .join(""),
};

describe("machines that are asked before they join", () => {
  const specification = exampleSpecification();
  const received: string[] = [];
  const answering: OnCommand = (_command, channel) => {
    let text = "";
    channel.on("data", (data: Buffer) => (text += data.toString()));
    channel.on("end", () => {
      received.push(text);
      const { marker = "", operation = "" } = parseScript(text) ?? {};
      channel.write(`\n${marker}\n${FACTS[operation] ?? "marker \nidentity \n"}`);
      channel.exit(0);
      channel.end();
    });
  };
  const server = new TestSshServer(answering);
  before(() => server.listen());
  after(() => server.close());
  const now = Date.now.bind(Date);
  afterEach(() => {
    Date.now = now;
    rememberListed(specification.name, []);
  });

  const machine = (name: string, hostKey = server.hostKey.public) =>
    exampleMachine(name, { ...{ address: "127.0.0.1", port: server.port, user: "root" }, hostKey });
  const access = () => ({ credentials: { privateKey: server.userKey.private } });

  /** Returns the lines of a group whose machine joins. */
  async function linesOf(name: string, preparation: string): Promise<string[]> {
    const news = {
      ...access(),
      ...{ group: "workers", machines: [machine(name)], controlPlanes: [machine("cp-1")], specification },
      preparations: { [name]: preparation },
    } as unknown as NodeGroupInputs;
    const joins = [{ kind: "join", machine: name, pool: "workers" } as const];
    const { preparation: steps } = await examineJoining({}, news, joins);
    return steps.map(nodeGroupSteps.format);
  }
  const reboot = (name: string) => `${name}: reboot, since its packages ask for it`;

  it("are prepared, if the engine does not know yet what their preparation printed", async () => {
    assert.deepEqual(await linesOf("w-1", UNKNOWN), ["w-1: write /etc/own/a", reboot("w-1")]);
  });

  it("are rebooted first, if they were prepared by an earlier run", async () => {
    assert.deepEqual(await linesOf("w-2", "done"), [reboot("w-2")]);
  });

  it("are not listed again by their group, however long their preparation took in this run", async () => {
    rememberListed(specification.name, [machine("w-3")]);
    assert.deepEqual(await linesOf("w-3", UNKNOWN), []);
    Date.now = () => now() + 3_600_000;
    assert.deepEqual(await linesOf("w-3", "done"), []);
  });

  it("get the sum of the registries' credentials only if their host key is known", async () => {
    const desired = {
      ...{ specification, podNetwork: "bridge" as const },
      internalAddresses: { "cp-1": "10.0.0.11", "w-4": "10.0.0.104", "w-5": "10.0.0.105" },
    };
    const sumSentTo = async (name: string, hostKey?: string) => {
      received.length = 0;
      const options = { controlPlanes: ["cp-1"], credentialsSum: "0a1b" };
      const found = await examine(access(), [machine(name, hostKey)], desired, options);
      assert.deepEqual(found.unread, []);
      return /^CREDENTIALS_SUM='(.*)'$/m.exec(received.join("\n"))?.[1];
    };
    assert.equal(await sumSentTo("w-4"), "0a1b");
    assert.equal(await sumSentTo("w-5", UNKNOWN), "");
  });
});
