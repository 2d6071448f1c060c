import { BenchStack } from "./stack";
import type { Toolchain } from "../sandbox/toolchain";

const DONE = /done at (\d+)/;

/** A program of one dynamic resource, which says when its work is done. */
const PROGRAM = `const pulumi = require("@pulumi/pulumi");
const provider = {
  create: (inputs) => Promise.resolve({ id: "one", outs: inputs }),
  diff: () => Promise.resolve({ changes: true }),
  update: async (_id, _olds, news) => {
    console.log("done at " + Date.now());
    return { outs: news };
  },
};
class One extends pulumi.dynamic.Resource {
  constructor() {
    super(provider, "one", { given: "value" });
  }
}
exports.given = new One().given;
`;

/** Pulumi's own share of an end: from the last resource being done to the end of `pulumi up`, without foresail. */
export class EngineEnd {
  private constructor(private readonly stack: BenchStack) {}

  static async start(toolchain: Toolchain): Promise<EngineEnd> {
    const stack = await BenchStack.ofProgram(toolchain, "engine-end", PROGRAM, { tuned: true });
    await stack.up();
    return new EngineEnd(stack);
  }

  /** @returns seconds */
  async measure(): Promise<number> {
    let done: number | undefined;
    await this.stack.up({
      onLine: (line) => {
        const found = DONE.exec(line)?.[1];
        if (found !== undefined) done = Number(found);
      },
    });
    if (done === undefined) throw new Error("the resource did not say when it was done");
    return (Date.now() - done) / 1_000;
  }

  delete(): void {
    this.stack.delete();
  }
}
