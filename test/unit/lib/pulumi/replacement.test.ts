import assert from "node:assert/strict";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { refusingReplacement } from "../../../../lib/pulumi/replacement";

type Inputs = Record<string, unknown>;

/** Handlers that replace a resource when its name changes, and record their calls. */
function recording(): { handlers: Handlers; calls: string[] } {
  const calls: string[] = [];
  const handlers = refusingReplacement({
    check: (_olds: Inputs, news: Inputs) => {
      calls.push("check");
      return Promise.resolve({ inputs: { ...news, steps: [] }, failures: [] });
    },
    diff: (_id: string, olds: Inputs, news: Inputs) =>
      Promise.resolve({ changes: true, replaces: olds.name === news.name ? [] : ["name"] }),
    create: () => Promise.resolve({ id: "one" }),
  });
  return { handlers, calls };
}

const failuresOf = async ({ handlers }: ReturnType<typeof recording>, olds: Inputs, news: Inputs) =>
  ((await handlers.check!(olds, news)).failures ?? []).map(({ reason }) => reason);

describe("a replacement of a resource", () => {
  it("is refused when only the command line asks for it", async () => {
    const resource = recording();
    const inputs = { name: "demo", machines: ["w-1"] };
    assert.deepEqual(await failuresOf(resource, inputs, inputs), []);
    const [reason = ""] = await failuresOf(resource, {}, { machines: ["w-1"], name: "demo" });
    assert.match(reason, /--replace, --target-replace or "pulumi state taint"/);
    assert.deepEqual(resource.calls, ["check"]);
  });

  it("goes on when the diff decides it, since that is another object", async () => {
    const resource = recording();
    const [olds, news] = [{ name: "demo" }, { name: "other" }];
    const { inputs } = await resource.handlers.check!(olds, news);
    await resource.handlers.diff!("one", olds, inputs as Inputs);
    assert.deepEqual(await failuresOf(resource, {}, news), []);
  });

  it("is not what a new resource is, before or beside one that exists", async () => {
    const resource = recording();
    assert.deepEqual(await failuresOf(resource, {}, { name: "new" }), []);
    await resource.handlers.check!({ name: "demo" }, { name: "demo" });
    assert.deepEqual(await failuresOf(resource, {}, { name: "new" }), []);
  });
});
