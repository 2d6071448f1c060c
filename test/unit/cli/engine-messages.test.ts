import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { explainEngineError, ValueFilter, withoutValues } from "../../../cli/engine/engine-messages";
import { readGivenFile } from "../../../lib/files";
import { writePrivately } from "../../../cli/engine/private-file";
import { PulumiError } from "../../../cli/engine/pulumi";
import { readPreview } from "../../../cli/review/preview";
import { readEndpoints } from "../../../lib/kubernetes/kubeconfig";
import { copyChart } from "../../../providers/helm/client/chart-copy";
import { read } from "../docs/project";

/** Returns what a user sees of recorded output. */
function shown(lines: readonly string[]): string[] {
  const filter = new ValueFilter();
  return [...lines.flatMap((line) => filter.line(line)), ...filter.rest()];
}
const recorded = (name: string) => read(`test/unit/cli/engine/${name}.txt`).split("\n");

describe("an error with which the engine ends", () => {
  // as Pulumi 3.230 prints them
  const cases: [string, RegExp][] = [
    [
      "error: getting stack configuration: get stack secrets manager: passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables",
      /^the stack has no passphrase .*Set PULUMI_CONFIG_PASSPHRASE to it, or PULUMI_CONFIG_PASSPHRASE_FILE/,
    ],
    [
      "error: getting stack configuration: get stack secrets manager: incorrect passphrase",
      /^the passphrase is wrong: .*Set PULUMI_CONFIG_PASSPHRASE, or the file of PULUMI_CONFIG_PASSPHRASE_FILE, to/,
    ],
    [
      "error: getting stack configuration: get stack secrets manager: unable to read PULUMI_CONFIG_PASSPHRASE_FILE: open /nowhere: no such file or directory",
      /^the file of PULUMI_CONFIG_PASSPHRASE_FILE, \/nowhere, can't be read: no such file or directory\. Set/,
    ],
    [
      "error: PULUMI_ACCESS_TOKEN must be set for login during non-interactive CLI sessions",
      /^no backend is logged in to.* Run `pulumi login file:\/\/FOLDER` .*or set PULUMI_BACKEND_URL/,
    ],
    [
      "error: unable to open bucket file:///nowhere/x?no_tmp_dir=true: stat /nowhere/x: no such file or directory",
      /^the folder of the backend file:\/\/\/nowhere\/x does not exist\. Create it/,
    ],
    [
      "error: no stack selected; please use `pulumi stack select` or `pulumi stack init` to choose one",
      /^no stack is selected\. Give --stack NAME/,
    ],
    [
      "error: unable to open bucket postgres://ops:secret@db:5432/state: failed to ping PostgreSQL: dial tcp 10.0.0.1:5432: connect: connection refused",
      /^the PostgreSQL server with the state can't be used: dial tcp .*: connection refused\. Check .*PGPASSWORD$/,
    ],
    [
      'error: read ".pulumi/meta.yaml": blob (key ".pulumi/meta.yaml") (code=Unknown): RequestError: send request failed\ncaused by: Get "http://s3:7070/state/.pulumi/meta.yaml": dial tcp 10.0.0.1:7070: connect: connection refused',
      /^the bucket with the state can't be used: Get "http:.*: connection refused\. Check that its server runs/,
    ],
    [
      "error: error listing stacks: could not list bucket: blob (code=NotFound): NoSuchBucket: The specified bucket does not exist.\n\tstatus code: 404, request id: 7JR8",
      /^the bucket with the state can't be used: NoSuchBucket: The specified bucket does not exist\. Check /,
    ],
    ["error: no stack named 'nope' found", /^there is no stack nope in this backend\. `pulumi stack ls`/],
  ];
  for (const [text, expected] of cases)
    it(`is explained: ${text.slice(0, 90)}`, () => {
      assert.match(explainEngineError(text) ?? "", expected);
      const { message } = new PulumiError("preview", 255, text);
      assert.match(message, expected);
      assert.doesNotMatch(message, /exit code|^error:|secrets manager/);
    });

  it("is shown as it is when its cause is not known", () => {
    const { message } = new PulumiError("preview", 255, "error: the moon is down");
    assert.equal(message, "pulumi preview failed (exit code 255):\nerror: the moon is down");
  });
});

describe("values of properties in the engine's output", () => {
  it("are left out of a change after the review, over all their lines, secrets among them", () => {
    const text = shown(recorded("violates-plan")).join("\n");
    assert.doesNotMatch(text, /s3cret|BEGIN|map\[|port|line: x/);
    assert.match(
      text,
      /\n {2}pulumi-nodejs:dynamic:Resource \(init\):\n {4}error: init is no longer as reviewed \(violates plan\); changed: machines, token, zeta\n\nResources:\n {4}1 unchanged\n/,
    );
    assert.match(
      text,
      /\n {4}pulumi:pulumi:Stack foresail-a {2}\n {4}pulumi-nodejs:dynamic:Resource init \*\*failed/,
    );
  });

  it("are left out of a refusal, whose reason stays", () => {
    const text = shown(recorded("has-a-problem")).join("\n");
    assert.doesNotMatch(text, /map\[|cp-1/);
    assert.match(
      text,
      /\n {4}error: pulumi-nodejs:dynamic:Resource resource 'init' has a problem: machines: too many\n {4}second line\n\nResources:/,
    );
  });

  it("are left out of a preview's errors", () => {
    const message =
      "error: pulumi-nodejs:dynamic:Resource resource 'init': property machines value {[{map[name:{cp-1\nline} port:{23}]}]} has a problem: too many\nsecond line\n";
    const preview = readPreview(JSON.stringify({ diagnostics: [{ message, severity: "error" }] }));
    assert.deepEqual(preview.errors, [
      "pulumi-nodejs:dynamic:Resource resource 'init' has a problem: machines: too many\nsecond line",
    ]);
  });

  it("never show a value, whatever it is, and hide no line that follows", () => {
    const value = fc.array(
      fc.constantFrom("S3CRET", "\n", "]", "[{", "}", "++x[", "has a problem:", " ", "a:b", "\na:b:c "),
      {
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(value, (parts) => {
        const words = parts.join("");
        const head = "error: resource urn:pulumi:a::p::t:m:R::init violates plan: properties changed: ";
        const message = `${head}++machines[{${words}}!={1}]`.split("\n").map((line) => `    ${line}`);
        const after = ["", "Resources:", "    1 errored"];
        const text = shown([...message, ...after]);
        assert.equal(text.join("\n").includes("S3CRET"), false, text.join("\n"));
        assert.deepEqual(text.slice(-3), after);
      }),
    );
  });

  it("do not change any other line", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (lines) => {
        const plain = lines.map((line) => line.replace(/[\r\n]/g, ""));
        assert.deepEqual(shown(plain), plain);
        for (const line of plain) assert.equal(withoutValues(line), line);
      }),
    );
  });
});

describe("a file that the command line names", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-files-"));
  after(() => rmSync(folder, { recursive: true }));
  const none = path.join(folder, "none");

  it("is named with the fault in words and the fix when it can't be read or written", async () => {
    await assert.rejects(readGivenFile(none, "the plan", "give another"), {
      message: `can't read the plan ${none}: there is no such file or folder; give another`,
    });
    await assert.rejects(
      readGivenFile(folder, "the plan", "give another"),
      /: it is a folder; give another$/,
    );
    await assert.rejects(writePrivately(path.join(none, "plan.json"), "x"), {
      message: `can't write ${none}/plan.json: there is no such file or folder; name a file in a folder that you may write to`,
    });
  });

  it("is named with the field of the kubeconfig that names it", async () => {
    const config = {
      contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
      clusters: [
        { name: "k", cluster: { server: "https://127.0.0.1:1", "certificate-authority": "/nowhere/ca.pem" } },
      ],
      users: [{ name: "u", user: { token: "x" } }],
    };
    await assert.rejects(readEndpoints({ kubeconfig: JSON.stringify(config) }), {
      message:
        "can't read the kubeconfig's certificate-authority /nowhere/ca.pem: there is no such file or folder; put the file back, or export the kubeconfig again",
    });
  });

  it("is named as the chart's folder when the chart is gone", async () => {
    await assert.rejects(copyChart({ chart: none }, [], path.join(folder, "copies")), {
      message: `can't read the chart ${none}: there is no such file or folder; correct its path, or name its repository`,
    });
  });
});
