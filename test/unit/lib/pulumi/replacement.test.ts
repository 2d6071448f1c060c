import assert from "node:assert/strict";
import type { Handlers } from "../../../../lib/pulumi/handler-types";
import { keepingSuccessors } from "../../../../lib/pulumi/replacement";

type Inputs = Record<string, unknown>;

/** Handlers of a resource that another name replaces, in a process of its own, and the ids that they deleted. */
function freshProcess(): { handlers: Required<Omit<Handlers, "read" | "configure">>; deleted: string[] } {
  const deleted: string[] = [];
  const handlers = keepingSuccessors({
    check: (_olds: Inputs, news: Inputs) => Promise.resolve({ inputs: { ...news, steps: [] }, failures: [] }),
    diff: (_id: string, olds: Inputs, news: Inputs) =>
      Promise.resolve({ changes: true, replaces: olds.name === news.name ? [] : ["name"] }),
    create: (inputs: Inputs) => Promise.resolve({ id: String(inputs.name), outs: inputs }),
    update: (_id: string, _olds: Inputs, news: Inputs) => Promise.resolve({ outs: news }),
    delete: (id: string) => Promise.resolve(void deleted.push(id)),
  });
  return { handlers: handlers as ReturnType<typeof freshProcess>["handlers"], deleted };
}

/** Checks and compares a resource as a run does. */
async function register({ handlers }: ReturnType<typeof freshProcess>, olds: Inputs, news: Inputs) {
  const checked = (await handlers.check(olds, news)) as { inputs: Inputs };
  return handlers.diff(String(olds.name), olds, checked.inputs);
}

describe("the deletion of a resource", () => {
  const demo = { name: "demo" };

  it("touches nothing that a new resource of the same id has taken over", async () => {
    const run = freshProcess();
    await run.handlers.check({}, demo);
    await run.handlers.create(demo);
    await run.handlers.delete("demo", demo);
    assert.deepEqual(run.deleted, []);
  });

  it("touches nothing in the run after the one that was killed before it", async () => {
    const next = freshProcess();
    await register(next, demo, demo);
    await next.handlers.delete("demo", demo);
    assert.deepEqual(next.deleted, []);
  });

  it("happens when the diff decided that it is another object", async () => {
    const run = freshProcess();
    await register(run, demo, { name: "other" });
    await run.handlers.create({ name: "other" });
    await run.handlers.delete("demo", demo);
    assert.deepEqual(run.deleted, ["demo"]);
  });

  it("happens in a destroy, also after a refresh in the same process", async () => {
    const destroy = freshProcess();
    await destroy.handlers.diff("demo", demo, { ...demo, steps: [] });
    await destroy.handlers.delete("demo", demo);
    assert.deepEqual(destroy.deleted, ["demo"]);
  });
});
