import assert from "node:assert/strict";
import { API } from "../../providers/azimuth/plan/names";
import { tunnelValues } from "../../providers/azimuth/plan/zenith-values";
import { UNKNOWN } from "../../lib/unknown";
import { Registrar } from "../../sandbox/azimuth/controllers/registrar";
import { AzimuthHost } from "./azimuth-host";
import { zenithKeypairSteps } from "../../providers/azimuth/plan/steps";
import { stepsOfKind } from "../support/steps";

const KEYPAIR = "azimuth/ZenithKeypair";
const namespace = "az-demo";

describe("the key of a cluster's API server, for Zenith", function () {
  this.timeout(60_000);
  const fixture = new AzimuthHost({
    prepare: (client, { namespace: name }) =>
      client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name } }),
  });
  const { inputs } = fixture;
  let registrar: Registrar;

  before(async () => {
    registrar = await Registrar.start();
  });
  after(() => registrar?.stop());

  const owner = { apiVersion: API.azimuth, kind: "Cluster", name: "demo", uid: "1-2" };
  const get = (name: string) =>
    fixture.client.get<{ data?: Record<string, string> }>({
      apiVersion: "v1",
      kind: "Secret",
      namespace,
      name,
    });

  it("has one key and one reserved name, however many callers ask", async () => {
    const desired = inputs({ registrarAdminUrl: registrar.url, owner, timeoutSeconds: 5 });
    registrar.failures = { count: 2, status: 503 };
    const { outputs } = await fixture.host.create(KEYPAIR, desired);
    assert.equal(registrar.reservations.length, 1);
    const publicKey = outputs["publicKey"] as string;
    assert.match(publicKey, /^ssh-ed25519 AAAA/);
    assert.equal(registrar.reservations[0]?.publicKey, publicKey.split(" ").slice(0, 2).join(" "));
    const again = await fixture.host.create(KEYPAIR, desired);
    assert.equal(again.outputs["privateKey"], outputs["privateKey"]);
    assert.equal(registrar.reservations.length, 1);
    assert.ok(!fixture.host.printed.includes("PRIVATE KEY"));

    // after someone deletes the Secret, the same key is restored with the same name
    await fixture.client.delete({
      apiVersion: "v1",
      kind: "Secret",
      namespace,
      name: "demo-zenith-apiserver",
    });
    const { inputs: checked } = await fixture.host.check(KEYPAIR, outputs, desired);
    assert.equal(stepsOfKind(zenithKeypairSteps, "restore", checked["steps"]).length, 1);
    await fixture.host.update(KEYPAIR, outputs, { ...checked });
    assert.equal(registrar.reservations.length, 1);
    const secret = await get("demo-zenith-apiserver");
    assert.equal(Buffer.from(secret?.data?.["id_ed25519"] ?? "", "base64").toString(), outputs["privateKey"]);
  });

  it("stores the files with the key in their own Secret, which a preview lists and a destroy deletes", async () => {
    const placeholder = (
      tunnelValues({ host: "h", port: 22 })["zenithClient"] as { sshPrivateKeyData: string }
    ).sshPrivateKeyData;
    const file = (over = "") => ({
      name: "client-apiserver.yaml",
      text: `ssh_private_key_data: "${placeholder}"${over}`,
    });
    const desired = (over?: string) =>
      inputs({ registrarAdminUrl: registrar.url, owner, timeoutSeconds: 5, files: [file(over)] });
    const secret = () => get("demo-zenith-files");
    const ref = { apiVersion: "v1", kind: "Secret", namespace, name: "demo-zenith-files" };
    const steps = async (olds: object, news: object) =>
      (await fixture.host.check(KEYPAIR, olds, news)).inputs["steps"] as string[];
    const write = {
      kind: "writeFiles",
      files: "client-apiserver.yaml",
      secret: "Secret az-demo/demo-zenith-files",
    };
    const parsed = (lines: readonly string[]) => lines.map((line) => zenithKeypairSteps.parse(line));
    // an unusable chart is refused, without a request to the registrar
    const { refusals } = await fixture.host.check(
      KEYPAIR,
      {},
      { ...desired(), chartIssue: "renders no Pod" },
    );
    assert.deepEqual(refusals, [{ property: "chartIssue", reason: "renders no Pod" }]);
    // older state has no files, and without them there is nothing to do
    const { files: _files, ...older } = desired() as Record<string, unknown>;
    const { outputs: before } = await fixture.host.create(KEYPAIR, older);
    assert.equal(
      (await fixture.host.diff(KEYPAIR, before, { ...older, steps: await steps(before, older) })).changes,
      false,
    );
    assert.equal(await secret(), undefined);

    const news = { ...desired(), steps: await steps(before, desired()) };
    assert.deepEqual(parsed(news.steps), [write]);
    assert.equal((await fixture.host.diff(KEYPAIR, before, news)).changes, true);
    const outputs = await fixture.host.update(KEYPAIR, before, news);
    const base64 = Buffer.from(outputs["privateKey"] as string).toString("base64");
    const texts = async () =>
      Object.values((await secret())?.data ?? {}).map((text) => Buffer.from(text, "base64").toString());
    assert.deepEqual(await texts(), [`ssh_private_key_data: "${base64}"`]);
    assert.ok(
      !JSON.stringify({ ...outputs, privateKey: "" }).includes(base64),
      "the key is in plain outputs",
    );
    assert.ok(!fixture.host.printed.includes(base64));
    assert.deepEqual(await steps(outputs, desired()), []);
    // what others changed or deleted is written again
    const data = {
      data: Object.fromEntries(Object.keys((await secret())?.data ?? {}).map((name) => [name, ""])),
    };
    await fixture.client.mergePatch(ref, data);
    assert.deepEqual(parsed(await steps(outputs, desired())), [write]);
    await fixture.client.delete(ref);
    assert.deepEqual(parsed(await steps(outputs, desired())), [write]);
    // other settings make another entry
    const changed = await fixture.host.update(KEYPAIR, outputs, desired("\nserver_port: 2222"));
    assert.deepEqual(await texts(), [`ssh_private_key_data: "${base64}"\nserver_port: 2222`]);
    await fixture.host.delete(KEYPAIR, { ...changed, made: false });
    assert.equal(await secret(), undefined);

    // an object that others created is theirs
    await fixture.client.create({ ...ref, metadata: { name: ref.name, namespace } });
    await assert.rejects(
      steps(before, desired()),
      /demo-zenith-files was created by another program; if nothing else uses it, delete it/,
    );
    await fixture.host.delete(KEYPAIR, { ...changed, made: false });
    assert.ok(await secret());
    await fixture.client.delete(ref);

    // those of a stack under another name are this one's with the cluster, whose owner the identity decides
    const { uid: _uid, ...otherOwner } = owner;
    const madeBy = (uid: string) => ({
      ...ref,
      metadata: {
        name: ref.name,
        namespace,
        annotations: { "foresail/made-by": "foresail/old" },
        ownerReferences: [{ ...otherOwner, uid }],
      },
    });
    await fixture.client.create(madeBy("3-4"));
    const ofOld = /was created by the stack foresail\/old; if nothing else/;
    await assert.rejects(steps(before, desired()), ofOld);
    await fixture.client.delete(ref);
    await fixture.client.create(madeBy(owner.uid));
    assert.deepEqual(parsed(await steps(before, desired())), [write]);
    // a preview that does not have the owner's uid yet compares its name
    const vague = (name: string) => ({ ...desired(), owner: { ...owner, uid: UNKNOWN, name } });
    assert.deepEqual(parsed(await steps(before, vague(owner.name))), [write]);
    await assert.rejects(steps(before, vague("other")), ofOld);
    await fixture.client.delete(ref);
  });

  it("continues with the key of a run that was interrupted before a name was reserved", async () => {
    const ref = { apiVersion: "v1", kind: "Secret", namespace, name: "demo-zenith-apiserver" };
    const before = (await get("demo-zenith-apiserver"))?.data;
    await fixture.client.mergePatch(ref, { metadata: { annotations: null } });
    const { outputs } = await fixture.host.create(
      KEYPAIR,
      inputs({ registrarAdminUrl: registrar.url, owner, timeoutSeconds: 5 }),
    );
    assert.deepEqual((await get("demo-zenith-apiserver"))?.data, before);
    assert.equal(outputs["subdomain"], registrar.reservations.at(-1)?.subdomain);
  });
});
