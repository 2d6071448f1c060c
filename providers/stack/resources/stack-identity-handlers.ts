import { randomUUID } from "node:crypto";
import type { Handlers } from "../../../lib/pulumi/handler-types";
import { report } from "../../../lib/pulumi/log";
import { renamedCluster } from "../plan/renamed-cluster";
import type { StackIdentityInputs as Inputs } from "./declarations";

export const handlers: Handlers = {
  check(olds: Partial<Inputs>, news: Inputs) {
    if (olds.stack !== undefined && olds.stack !== news.stack)
      report(`StackIdentity ${news.stack}`, `recorded: the stack was ${olds.stack}; its identity stays`);
    const reason = renamedCluster(olds.cluster, news.cluster);
    const failures = reason === undefined ? [] : [{ property: "cluster", reason }];
    return Promise.resolve({ inputs: news, failures });
  },
  diff: (_id, olds: Inputs, news: Inputs) =>
    Promise.resolve({ changes: olds.stack !== news.stack || olds.cluster !== news.cluster }),
  create: (inputs: Inputs) => Promise.resolve({ id: randomUUID(), outs: inputs }),
  update: (_id, _olds: Inputs, news: Inputs) => Promise.resolve({ outs: news }),
};
