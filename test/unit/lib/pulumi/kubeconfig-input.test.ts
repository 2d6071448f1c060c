import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import { kubeconfigInput } from "../../../../lib/pulumi/kubeconfig-input";

const written = (user: string) =>
  `{clusters: [{name: c, cluster: {server: "https://10.0.0.1:6443"}}], users: [{name: u, user: ${user}}], contexts: [{name: x, context: {cluster: c, user: u}}]}`;
const EXEC = written("{exec: {command: steal}}");

const valueOf = <T>(output: pulumi.Input<T>): Promise<T> =>
  (pulumi.output(output) as unknown as { promise(): Promise<T> }).promise();

describe("a kubeconfig among the arguments of a component", () => {
  before(() =>
    pulumi.runtime.setMocks({
      call: () => ({}),
      newResource: ({ name, inputs }) => ({
        id: name,
        state: { ...(inputs as object), outputs: { own: written("{token: t}"), exec: EXEC } },
      }),
    }),
  );

  it("is read strictly when it is an output of another stack, also inside another output", async () => {
    const stack = new pulumi.StackReference("organization/other/dev");
    for (const output of [
      stack.getOutput("exec"),
      pulumi.secret(stack.requireOutput("exec")),
      pulumi.interpolate`${stack.getOutput("exec")}`,
    ])
      await assert.rejects(
        valueOf(kubeconfigInput(output as pulumi.Input<string>)),
        /an output of another stack \(StackReference\) has a kubeconfig that is refused: users\[0\]\.user\.exec would run a program/,
      );
    const accepted = await valueOf(kubeconfigInput(stack.getOutput("own") as pulumi.Input<string>));
    assert.match(accepted, /token: t/);
  });

  it("is the operator's own as text and from the program's configuration", async () => {
    assert.equal(kubeconfigInput(EXEC), EXEC);
    assert.equal(await valueOf(kubeconfigInput(pulumi.secret(EXEC))), EXEC);
    assert.equal(kubeconfigInput(undefined), undefined);
  });
});
