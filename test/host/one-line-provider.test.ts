import assert from "node:assert/strict";
import type { HandlerKey } from "../../providers/handlers";
import { handlers } from "../../providers/handlers";
import { makeCompiledClone, removeFolder } from "../engine/compiled-clone";
import { makeInstalledProject } from "../engine/installed-package";
import { SAMPLES } from "./handler-samples";
import { ProviderHost } from "./provider-host";

const KEYS = Object.keys(handlers) as HandlerKey[];

for (const [ref, make] of [
  ["a clone", makeCompiledClone],
  ["the installed package", makeInstalledProject],
] as const) {
  describe(`the one line in state, in Pulumi's own process, from ${ref}`, function () {
    this.timeout(60_000);
    let folder: string;
    let host: ProviderHost;
    before(async () => {
      folder = make();
      host = await ProviderHost.start(folder);
    });
    after(async () => {
      await host?.stop();
      if (folder) removeFolder(folder);
    });

    for (const key of KEYS)
      it(`loads the handlers of ${key}`, async () => {
        const { inputs, refusals } = await host.check(key, {}, SAMPLES[key]);
        assert.deepEqual(refusals, []);
        for (const name of Object.keys(SAMPLES[key])) assert.ok(name in inputs, name);
      });
  });
}
