import assert from "node:assert/strict";
import type { NewObject } from "../../lib/kubernetes";
import { UNKNOWN } from "../../lib/unknown";
import { widget } from "../simulation/widgets";
import { widgetsFixture } from "./widgets-fixture";

const ADOPTION = "kubernetes/Adoption";
const GUARD = "azimuth/DestroyGuard";
const PROD = { id: "2f1c9c6e-3d0a-4a58-9f3e-0c8f7a5d1b42", stack: "organization/foresail/prod" };
const STAGING = { id: "11111111-2222-4333-8444-555555555555", stack: "organization/foresail/staging" };
/** Another backend's stack of the same name. */
const NAMESAKE = { ...STAGING, stack: PROD.stack };

describe("objects of stacks with identities, on a real API server", function () {
  this.timeout(60_000);
  const fixture = widgetsFixture();

  const shortName = (stack: string) => stack.split("/").slice(1).join("/");
  const inputs = (object: NewObject, owner = PROD, over: object = {}) => ({
    kubeconfig: fixture.api.kubeconfig(),
    stack: shortName(owner.stack),
    owner,
    timeoutSeconds: 5,
    object,
    ...over,
  });
  /** The inputs of an earlier release, which knew no identity. */
  const earlier = (object: NewObject, stack = "foresail/prod") => ({
    kubeconfig: fixture.api.kubeconfig(),
    stack,
    timeoutSeconds: 5,
    object,
  });
  const annotations = async (name: string) => {
    const ref = { apiVersion: "test.foresail.dev/v1", kind: "Widget", namespace: "default", name };
    const live = await fixture.kubernetes.get<{ metadata: { annotations?: Record<string, string> } }>(ref);
    return live && (live.metadata.annotations ?? {});
  };
  const madeBy = ({ stack, id }: typeof PROD) => ({ "foresail/made-by": stack, "foresail/owner-id": id });
  const lines = async (news: object, olds: object = {}) => {
    const { inputs: checked, refusals } = await fixture.host.check(ADOPTION, olds, news);
    assert.deepEqual(refusals, []);
    return checked["steps"] as string[];
  };
  const changes = async (olds: object, news: object) =>
    (await fixture.host.diff(ADOPTION, olds, news)).changes;
  /** Refused in the preview, and by a run that goes on without one. */
  async function refused(news: object, words: RegExp, olds?: object): Promise<void> {
    const { refusals } = await fixture.host.check(ADOPTION, olds ?? {}, news);
    assert.match(refusals.map(({ reason }) => reason).join("\n"), words);
    await assert.rejects(
      olds ? fixture.host.update(ADOPTION, olds, news) : fixture.host.create(ADOPTION, news),
      /belongs to/,
    );
  }

  it("have the identity, and are refused for every other stack, whatever its name is", async () => {
    const object = widget("prod");
    const { outputs } = await fixture.host.create(ADOPTION, inputs(object));
    assert.deepEqual(await annotations("prod"), madeBy(PROD));
    assert.deepEqual(await lines(inputs(object), inputs(object)), []);
    assert.equal(await changes(outputs, inputs(object)), false);
    const named = new RegExp(
      `Widget default/prod belongs to the stack ${PROD.stack} \\(${PROD.id}\\); .*takeOver: ${PROD.id}`,
    );
    for (const over of [{}, { adopt: true }, { takeOver: STAGING.id }, { takeOver: "unmarked" }])
      await refused(inputs(object, STAGING, over), named);
    // before it has an identity, as in its first preview
    const { refusals } = await fixture.host.check(ADOPTION, {}, inputs(object, { ...STAGING, id: UNKNOWN }));
    assert.match(refusals[0]!.reason, named);
    const namesake =
      /belongs to a stack of the same name with another identity, .*state of this stack was lost/;
    await refused(inputs(object, NAMESAKE, { adopt: true }), namesake);
    await refused(inputs(object, NAMESAKE), namesake, { ...outputs, owner: NAMESAKE });
    // values that are not known yet hide no owner
    const vague = { ...object, spec: { size: UNKNOWN } };
    const ofVague = await fixture.host.check(ADOPTION, {}, inputs(vague, STAGING));
    assert.match(ofVague.refusals[0]!.reason, named);
    assert.deepEqual(await lines(inputs(vague), inputs(object)), [
      "ensure Widget default/prod with values not known yet: spec.size",
    ]);
    assert.deepEqual(await annotations("prod"), madeBy(PROD));
    await fixture.host.delete(ADOPTION, outputs);
    assert.equal(await annotations("prod"), undefined);
  });

  it("get the identity in a step if an earlier release made them for this stack", async () => {
    const object = widget("earlier");
    const { outputs } = await fixture.host.create(ADOPTION, earlier(object));
    assert.deepEqual(await annotations("earlier"), { "foresail/made-by": "foresail/prod" });
    const step = "record this stack as its owner, instead of foresail/prod";
    // in a first preview the identity is not known
    assert.deepEqual(await lines(inputs(object, { ...PROD, id: UNKNOWN }), earlier(object)), [step]);
    assert.deepEqual(await lines(inputs(object), earlier(object)), [step]);
    assert.equal(await changes(outputs, inputs(object)), true);
    const updated = await fixture.host.update(ADOPTION, outputs, inputs(object));
    assert.deepEqual([updated["made"], await annotations("earlier")], [true, madeBy(PROD)]);
    assert.deepEqual(await lines(inputs(object), inputs(object)), []);
    assert.equal(await changes(updated, inputs(object)), false);
    await fixture.host.delete(ADOPTION, updated);
    assert.equal(await annotations("earlier"), undefined);
  });

  it("of an earlier release are refused for a stack that does not have them in its state, also one of the same name", async () => {
    const object = widget("unmarked");
    const { outputs } = await fixture.host.create(ADOPTION, earlier(object));
    const words = /belongs to the stack foresail\/prod, which an earlier release .*takeOver: unmarked/;
    for (const owner of [PROD, STAGING]) await refused(inputs(object, owner, { adopt: true }), words);
    const news = inputs(object, STAGING, { takeOver: "unmarked" });
    assert.deepEqual(await lines(news), ["take it over from foresail/prod"]);
    const { outputs: taken } = await fixture.host.create(ADOPTION, news);
    assert.deepEqual([taken["made"], await annotations("unmarked")], [true, madeBy(STAGING)]);
    // the former stack, with code and state of the earlier release
    await fixture.host.delete(ADOPTION, outputs);
    assert.deepEqual(await annotations("unmarked"), madeBy(STAGING));
    await fixture.host.delete(ADOPTION, taken);
  });

  it("stay this stack's when it is renamed, with a step, and when it was renamed before it had an identity", async () => {
    const object = widget("renamed");
    const { outputs } = await fixture.host.create(ADOPTION, inputs(object));
    const renamed = { ...PROD, stack: "organization/foresail/live" };
    const step = `record this stack as its owner, instead of ${PROD.stack}`;
    assert.deepEqual(await lines(inputs(object, renamed), inputs(object)), [step]);
    const updated = await fixture.host.update(ADOPTION, outputs, inputs(object, renamed));
    assert.deepEqual(await annotations("renamed"), madeBy(renamed));
    assert.deepEqual(await lines(inputs(object, renamed), inputs(object, renamed)), []);
    await fixture.host.delete(ADOPTION, updated);

    const { outputs: old } = await fixture.host.create(ADOPTION, earlier(object, "foresail/old"));
    assert.deepEqual(await lines(inputs(object), earlier(object, "foresail/old")), [
      "record this stack as its owner, instead of foresail/old",
    ]);
    await fixture.host.delete(ADOPTION, await fixture.host.update(ADOPTION, old, inputs(object)));
    assert.equal(await annotations("renamed"), undefined);
  });

  it("are handed over by `takeOver`, with the right to delete them, and are refused for the former stack from then on", async () => {
    const object = widget("handed");
    const { outputs: former } = await fixture.host.create(ADOPTION, inputs(object));
    const news = inputs(object, STAGING, { takeOver: PROD.id });
    assert.deepEqual(await lines(news), [`take it over from ${PROD.stack} (${PROD.id})`]);
    const { outputs } = await fixture.host.create(ADOPTION, news);
    assert.deepEqual([outputs["made"], await annotations("handed")], [true, madeBy(STAGING)]);
    assert.deepEqual(await lines(news, news), []);
    assert.equal(await changes(outputs, news), false);
    const words = new RegExp(`belongs to the stack ${STAGING.stack}`);
    await refused(inputs(object, PROD), words, former);
    await assert.rejects(fixture.host.read(ADOPTION, former), words);
    await fixture.host.delete(ADOPTION, former);
    assert.match(
      fixture.host.printed,
      new RegExp(`the stack ${STAGING.stack} \\(${STAGING.id}\\) has taken it over, and keeps it`),
    );
    assert.deepEqual(await annotations("handed"), madeBy(STAGING));
    assert.ok(await fixture.host.read(ADOPTION, outputs));
    await fixture.host.delete(ADOPTION, outputs);
    assert.equal(await annotations("handed"), undefined);
  });

  it("that a killed run marked, and did not record, are recorded by the next one", async () => {
    const object = widget("killed");
    const { outputs: old } = await fixture.host.create(ADOPTION, earlier(object));
    await fixture.host.update(ADOPTION, old, inputs(object));
    // the state is that of the earlier release
    assert.ok(await fixture.host.read(ADOPTION, old));
    await assert.rejects(
      fixture.host.delete(ADOPTION, old),
      /recorded it in the state without an identity.*run `pulumi up`/s,
    );
    assert.deepEqual(await annotations("killed"), madeBy(PROD));
    assert.deepEqual(await lines(inputs(object), earlier(object)), ["record this stack as its owner"]);
    assert.equal(await changes(old, inputs(object)), true);
    const recorded = await fixture.host.update(ADOPTION, old, inputs(object));
    assert.equal(await changes(recorded, inputs(object)), false);
    await fixture.host.delete(ADOPTION, recorded);
    assert.equal(await annotations("killed"), undefined);
  });

  it("lose both annotations when they are released", async () => {
    await fixture.kubernetes.apply(widget("theirs"), { fieldManager: "helm" });
    const { outputs } = await fixture.host.create(ADOPTION, inputs(widget("theirs")));
    assert.deepEqual(await annotations("theirs"), {
      "foresail/adopted-by": PROD.stack,
      "foresail/owner-id": PROD.id,
    });
    await fixture.host.delete(ADOPTION, outputs);
    assert.deepEqual(await annotations("theirs"), {});
  });

  it("keep the identity in a run that leaves it out, as `--target` does", async () => {
    const object = widget("targeted");
    const { outputs } = await fixture.host.create(ADOPTION, inputs(object));
    const leftOut = inputs(object, { ...PROD, id: "" });
    const { inputs: checked } = await fixture.host.check(ADOPTION, outputs, leftOut);
    assert.deepEqual([checked["steps"], checked["owner"]], [[], PROD]);
    assert.equal(await changes(outputs, checked), false);
    await fixture.host.delete(ADOPTION, outputs);
    // an earlier release made it: the mark waits for a run that has the identity
    const { outputs: old } = await fixture.host.create(ADOPTION, earlier(object));
    const { inputs: unmarked } = await fixture.host.check(ADOPTION, old, leftOut);
    assert.deepEqual(unmarked["steps"], []);
    assert.equal(await changes(old, unmarked), false);
    await fixture.host.delete(ADOPTION, old);
  });

  describe("that own a cluster through Azimuth", () => {
    const owner: NewObject = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "demo-foresail", namespace: "default" },
    };
    const guard = (stackOwner = PROD) => ({
      kubeconfig: fixture.api.kubeconfig(),
      stack: shortName(stackOwner.stack),
      namespace: "default",
      cluster: "demo",
      hasRecord: false,
      stackOwner,
    });

    it("stop the destroy of the former stack before anything of the cluster is deleted", async () => {
      const { outputs: former } = await fixture.host.create(GUARD, guard());
      await fixture.host.delete(GUARD, former);
      const { outputs: own } = await fixture.host.create(ADOPTION, inputs(owner));
      await fixture.host.delete(GUARD, former);
      const { outputs } = await fixture.host.create(ADOPTION, inputs(owner, STAGING, { takeOver: PROD.id }));
      await assert.rejects(
        fixture.host.delete(GUARD, former),
        /ConfigMap default\/demo-foresail belongs to the stack organization\/foresail\/staging.*nothing of the cluster was touched.*pulumi state delete --force --target-dependents/s,
      );
      await fixture.host.delete(GUARD, guard(STAGING));
      await fixture.host.delete(ADOPTION, own);
      await fixture.host.delete(ADOPTION, outputs);
    });

    it("are compared by identity: a rename is not a change, another identity is", async () => {
      const renamed = { ...PROD, stack: "organization/foresail/live" };
      assert.equal((await fixture.host.diff(GUARD, guard(), guard(renamed))).changes, false);
      assert.equal((await fixture.host.diff(GUARD, guard(), guard(STAGING))).changes, true);
      const { inputs: checked } = await fixture.host.check(GUARD, guard(), guard({ ...PROD, id: "" }));
      assert.deepEqual(checked["stackOwner"], PROD);
    });
  });
});
