import assert from "node:assert/strict";
import { SlowRelay } from "../simulation/slow-relay";
import { widget } from "../simulation/widgets";
import { ADOPTION, adoptionsOf, type Live, STACK } from "./adoption-calls";
import { ProviderHost } from "./provider-host";
import { widgetsFixture } from "./widgets-fixture";

describe("Adoption and ObjectReady, on a real API server", function () {
  this.timeout(60_000);
  const fixture = widgetsFixture();

  const { inputs, live, status, byOthers, lines, changes } = adoptionsOf(fixture);

  it("creates a missing object, annotates it as its own, changes nothing the second time, and deletes it", async () => {
    const news = inputs(widget("made"));
    assert.deepEqual(await lines(news), ["make Widget default/made"]);
    const { id, outputs } = await fixture.host.create(ADOPTION, news);
    assert.equal(id, "Widget.test.foresail.dev/default/made");
    assert.equal(outputs["made"], true);
    assert.equal((await live("made"))?.metadata.annotations?.["foresail/made-by"], STACK);
    assert.deepEqual(await lines(news, news), []);
    assert.equal(await changes(outputs, news), false);
    await fixture.host.delete(ADOPTION, outputs);
    assert.equal(await live("made"), undefined);
  });

  it("ignores what the server or others add, and corrects what they change of its own", async () => {
    const news = inputs(widget("shared"));
    const { outputs } = await fixture.host.create(ADOPTION, news);
    assert.equal((await live("shared"))?.spec["color"], "gray");
    const ref = { ...widget("shared"), namespace: "default", name: "shared" };
    await fixture.kubernetes.mergePatch(ref, {
      metadata: { labels: { theirs: "yes" } },
      spec: { tags: ["theirs"] },
    });
    assert.equal(await changes(outputs, news), false);
    await fixture.kubernetes.mergePatch(ref, { spec: { size: 9 } });
    assert.deepEqual(await lines(news, news), ["apply spec.size"]);
    assert.equal(await changes(outputs, news), true);
    const updated = await fixture.host.update(ADOPTION, outputs, news);
    const { spec, metadata } = (await live("shared"))!;
    assert.deepEqual(
      [spec["size"], spec["tags"], metadata.labels as object],
      [3, ["theirs"], { theirs: "yes" }],
    );
    assert.equal(await changes(updated, news), false);
    await fixture.host.delete(ADOPTION, updated);
  });

  it("replaces an owner of the same name that a move has left, as a step", async () => {
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "moved", controller: true };
    const stale = { ...owner, uid: "00000000-0000-0000-0000-000000000000" };
    await fixture.kubernetes.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: owner.name, namespace: "default" },
    });
    const ref = { apiVersion: "v1", kind: "ConfigMap", namespace: "default", name: owner.name };
    const { uid } = (await fixture.kubernetes.get<Live>(ref))!.metadata;
    const news = inputs(widget("left"), { owners: [{ ...owner, uid }] });
    const { outputs } = await fixture.host.create(ADOPTION, news);
    await fixture.kubernetes.mergePatch(
      { ...widget("left"), namespace: "default", name: "left" },
      { metadata: { ownerReferences: [stale] } },
    );
    assert.deepEqual(await lines(news, news), ["add its owner ConfigMap moved"]);
    const updated = await fixture.host.update(ADOPTION, outputs, news);
    const owners = (await live("left"))?.metadata.ownerReferences;
    assert.deepEqual(
      owners?.map((one) => one.uid),
      [uid],
    );
    assert.deepEqual(await lines(news, news), []);
    await fixture.host.delete(ADOPTION, updated);
  });

  it("leaves a field to others after the object is created", async () => {
    const news = inputs(widget("scaled"), { leave: ["spec.size"] });
    const { outputs } = await fixture.host.create(ADOPTION, news);
    await fixture.kubernetes.mergePatch(
      { ...widget("scaled"), namespace: "default", name: "scaled" },
      { spec: { size: 7 } },
    );
    assert.equal(
      await changes(outputs, inputs(widget("scaled", { size: 4 }), { leave: ["spec.size"] })),
      false,
    );
    const tagged = inputs(widget("scaled", { size: 4, color: "red" }), { leave: ["spec.size"] });
    const updated = await fixture.host.update(ADOPTION, outputs, tagged);
    assert.deepEqual((await live("scaled"))?.spec, { size: 7, color: "red" });
    await fixture.host.delete(ADOPTION, updated);
  });

  it("adopts an existing object with owner and finalizer, and releases it completely", async () => {
    await fixture.kubernetes.apply({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "owner", namespace: "default" },
    });
    await byOthers(widget("theirs", { size: 3 }));
    const news = inputs(widget("theirs", { size: 3, color: "red" }), {
      owners: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner" }],
      finalizers: ["foresail.dev/test"],
    });
    assert.deepEqual(await lines(news), [
      "adopt it, written by helm",
      "apply spec.color",
      "add its owner ConfigMap owner",
      "add its finalizer foresail.dev/test",
    ]);
    // "gray" is the server's, not helm's
    const { outputs } = await fixture.host.create(ADOPTION, news);
    assert.equal(outputs["made"], false);
    const adopted = (await live("theirs"))!;
    assert.deepEqual(adopted.metadata.finalizers, ["foresail.dev/test"]);
    assert.deepEqual(
      adopted.metadata.ownerReferences?.map(({ name }) => name),
      ["owner"],
    );
    assert.equal(await changes(outputs, news), false);
    await fixture.host.delete(ADOPTION, outputs);
    const { metadata, spec } = (await live("theirs"))!;
    assert.deepEqual(
      [metadata.finalizers, metadata.ownerReferences, metadata.annotations],
      [undefined, undefined, undefined],
    );
    assert.deepEqual(spec, { size: 3, color: "red" });
    assert.doesNotMatch(JSON.stringify(metadata.managedFields), /"manager":"foresail"/);
    await byOthers(widget("theirs", { size: 4 }));
  });

  it("refuses an object of another controller, stack or field manager, with the owner's name", async () => {
    const uid = "11111111-2222-3333-4444-555555555555";
    const controller = { apiVersion: "apps/v1", kind: "Deployment", name: "web", uid, controller: true };
    await byOthers(widget("controlled", {}, { ownerReferences: [controller] }));
    const { refusals } = await fixture.host.check(ADOPTION, {}, inputs(widget("controlled")));
    assert.match(
      refusals[0]!.reason,
      /Widget default\/controlled belongs to its controller Deployment web; .*adopt: true/,
    );
    await assert.rejects(
      fixture.host.create(ADOPTION, inputs(widget("controlled"))),
      /belongs to its controller Deployment web/,
    );

    const { outputs } = await fixture.host.create(ADOPTION, inputs(widget("first")));
    await assert.rejects(
      fixture.host.create(ADOPTION, inputs(widget("first"), { stack: "foresail/other" })),
      /belongs to the stack foresail\/test/,
    );

    await byOthers(widget("written", { size: 9 }));
    await assert.rejects(
      fixture.host.create(ADOPTION, inputs(widget("written"))),
      /belongs to helm \(.*\.spec\.size/,
    );
    const { outputs: taken } = await fixture.host.create(
      ADOPTION,
      inputs(widget("written"), { adopt: true }),
    );
    assert.deepEqual([taken["made"], (await live("written"))?.spec["size"]], [false, 3]);
    assert.equal((await live("controlled"))?.metadata.annotations, undefined);
    await fixture.host.delete(ADOPTION, outputs);
  });

  it("waits for the status of the generation that it wrote, and returns the fields", async () => {
    const news = inputs(widget("slow"), {
      wait: { fields: { clientId: "status.clientId" }, conditions: [{ type: "Ready" }] },
    });
    assert.deepEqual(await lines(news), [
      "make Widget default/slow",
      "wait at most 5 s for status.clientId, condition Ready True",
    ]);
    const creating = fixture.host.create(ADOPTION, news);
    while ((await live("slow")) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    await status("slow", {
      observedGeneration: 0,
      clientId: "old",
      conditions: [{ type: "Ready", status: "True" }],
    });
    await status("slow", { observedGeneration: 1, clientId: "c-1" });
    const { outputs } = await creating;
    assert.deepEqual(outputs["values"], { clientId: "c-1" });
    assert.match(fixture.host.printed, /Widget default\/slow: waiting for .*generation 0 of 1/);
    await status("slow", { clientId: "c-2" });
    assert.equal(await changes(outputs, news), true);
    assert.deepEqual((await fixture.host.read(ADOPTION, outputs))?.["values"], { clientId: "c-2" });
    await fixture.host.delete(ADOPTION, outputs);
  });

  it("stops at a failure with its message, and continues from there", async () => {
    const wait = {
      equals: [{ path: "status.phase", value: "Active" }],
      failures: [{ path: "status.phase", value: "Failed" }],
      messages: ["status.message"],
    };
    const news = inputs(widget("failing"), { wait });
    const creating = assert.rejects(
      fixture.host.create(ADOPTION, news),
      /status\.phase is Failed: no room left/,
    );
    while ((await live("failing")) === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
    await status("failing", { phase: "Failed", message: "no room left" });
    await creating;
    await status("failing", { phase: "Active" });
    // a killed run left nothing in the state; the annotation identifies the object's owner
    const { outputs } = await fixture.host.create(ADOPTION, news);
    assert.equal(outputs["made"], true);
    await fixture.host.delete(ADOPTION, outputs);
  });

  it("notices in a preview and in a refresh that the object was deleted or recreated", async () => {
    const news = inputs(widget("lost"));
    const { outputs } = await fixture.host.create(ADOPTION, news);
    const ref = { ...widget("lost"), namespace: "default", name: "lost" };
    await fixture.kubernetes.delete(ref);
    assert.equal(await fixture.host.read(ADOPTION, outputs), undefined);
    assert.equal(await changes(outputs, news), true);
    assert.deepEqual(await lines(news, news), ["make Widget default/lost"]);
    await byOthers(widget("lost"));
    await fixture.host.delete(ADOPTION, outputs);
    assert.ok(await live("lost"), "what others made in its place stays");
    await fixture.kubernetes.delete(ref);
  });

  it("is replaced for another name and not for another API version", async () => {
    const { outputs } = await fixture.host.create(ADOPTION, inputs(widget("one")));
    const other = await fixture.host.diff(ADOPTION, outputs, inputs(widget("two")));
    assert.deepEqual(other, { changes: true, replaces: ["object"] });
    const version = { ...widget("one"), apiVersion: "test.foresail.dev/v2" };
    assert.deepEqual(await fixture.host.diff(ADOPTION, outputs, inputs(version)), {
      changes: true,
      replaces: [],
    });
    await fixture.host.delete(ADOPTION, outputs);
  });

  it("names the kind that is missing with what installs it, and the right that is missing", async () => {
    const gadget = { ...widget("g"), kind: "Gadget" };
    const { refusals } = await fixture.host.check(
      ADOPTION,
      {},
      inputs(gadget, { installedBy: "the gadget operator" }),
    );
    assert.match(
      refusals[0]!.reason,
      /no kind Gadget in test\.foresail\.dev\/v1; install the gadget operator/,
    );
    const powerless = inputs(widget("p"), { kubeconfig: fixture.api.server.userKubeconfig("ada") });
    const asked = await fixture.host.check(ADOPTION, {}, powerless);
    assert.match(
      asked.refusals[0]!.reason,
      /"ada" cannot get resource "widgets" in API group "test\.foresail\.dev"/,
    );
    await assert.rejects(fixture.host.create(ADOPTION, powerless), /cannot get resource "widgets"/);
  });

  it("creates the object once after a kill during its creation", async () => {
    const news = inputs(widget("killed"), { wait: { fields: { id: "status.id" } } });
    const doomed = await ProviderHost.start(fixture.host.folder);
    const creating = doomed.create(ADOPTION, news).catch(() => undefined);
    while ((await live("killed")) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    await doomed.stop();
    await creating;
    const { uid } = (await live("killed"))!.metadata;
    await status("killed", { id: "i" });
    const { outputs } = await fixture.host.create(ADOPTION, news);
    assert.deepEqual([outputs["uid"], outputs["made"]], [uid, true]);
    await fixture.host.delete(ADOPTION, outputs);
  });

  it("recognizes the object that it created although the response was lost", async () => {
    const relay = await SlowRelay.open(fixture.api.port, 300);
    const creating = fixture.host.create(
      ADOPTION,
      inputs(widget("unheard"), { kubeconfig: fixture.api.kubeconfig(relay.port) }),
    );
    while ((await live("unheard")) === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    relay.cut();
    const { outputs } = await creating;
    assert.deepEqual([outputs["made"], outputs["uid"]], [true, (await live("unheard"))?.metadata.uid]);
    await relay.close();
    await fixture.host.delete(ADOPTION, { ...outputs, kubeconfig: fixture.api.kubeconfig() });
    assert.equal(await live("unheard"), undefined);
  });

  it("waits as ObjectReady for an object of others, sees it change, and refuses one without a required field", async () => {
    const news = {
      kubeconfig: fixture.api.kubeconfig(),
      stack: STACK,
      timeoutSeconds: 5,
      object: { apiVersion: "test.foresail.dev/v1", kind: "Widget", namespace: "default", name: "awaited" },
      wait: { fields: { id: "status.id" }, conditions: [{ type: "Ready" }] },
    };
    const key = "kubernetes/ObjectReady";
    const waiting = fixture.host.create(key, news);
    await byOthers(widget("awaited"));
    await status("awaited", { id: "i-1", conditions: [{ type: "Ready", status: "True" }] });
    const { outputs } = await waiting;
    assert.deepEqual(outputs["values"], { id: "i-1" });
    assert.deepEqual(await fixture.host.diff(key, outputs, news), { changes: false, replaces: [] });
    await status("awaited", {
      conditions: [{ type: "Ready", status: "False", reason: "Gone", message: "away" }],
    });
    assert.equal((await fixture.host.diff(key, outputs, news)).changes, true);
    await assert.rejects(
      fixture.host.create(key, { ...news, timeoutSeconds: 1 }),
      /condition Ready is False \(Gone: away\)/,
    );
    const incomplete = { ...news, wait: {}, mustHave: [{ path: "spec.painter", neededBy: "a wall" }] };
    const words = /Widget default\/awaited has no spec.painter, which a wall needs; add it in its source/;
    const { refusals } = await fixture.host.check(key, {}, incomplete);
    assert.match(refusals.map(({ reason }) => reason).join(), words);
    await assert.rejects(fixture.host.create(key, incomplete), words);
  });
});
