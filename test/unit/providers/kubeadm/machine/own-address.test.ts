import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  holdOwnAddress,
  releaseOwnAddress,
} from "../../../../../providers/kubeadm/machine/steps/own-address";
import { resetScript } from "../../../../../providers/kubeadm/machine/steps/reset";
import { prepareScript } from "../../../../../providers/kubeadm/machine/steps/prepare";
import { exampleMachine, exampleSpecification } from "./examples";

/** The program that the step writes to the machine, with an `ip` that has these addresses. */
function run(address: string, present: string[]): string {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-own-address-"));
  try {
    const lines = present
      .map((one) => `1: eth0    inet ${one}/24 brd 10.0.0.255 scope global eth0`)
      .join("\n");
    const ip = `#!/bin/bash\nif [ "$1" = -oneline ]; then cat <<'END'\n${lines}\nEND\nelse echo "ip $*"; fi\n`;
    writeFileSync(path.join(folder, "ip"), ip, { mode: 0o755 });
    const program = /#!\/bin\/bash[\s\S]*?\nfi\n/.exec(holdOwnAddress(address))?.[0] ?? "";
    const environment = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
    const { stdout, stderr, status } = spawnSync("bash", ["-s", address], {
      input: program,
      encoding: "utf8",
      env: environment,
    });
    assert.deepEqual([stderr, status], ["", 0]);
    return stdout.trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe("the address by which other nodes reach a machine", () => {
  it("is put on the loopback device when no device has it", () => {
    assert.equal(run("203.0.113.7", ["10.0.0.5"]), "ip address add 203.0.113.7/32 dev lo");
  });

  it("is left where it is, and not mistaken for one that begins alike", () => {
    assert.equal(run("203.0.113.7", ["203.0.113.7"]), "");
    assert.equal(run("203.0.113.7", ["203.0.113.70"]), "ip address add 203.0.113.7/32 dev lo");
  });

  it("is held by the machines of a specification that asks for it, and by no others", () => {
    const { network } = exampleSpecification();
    const asked = exampleSpecification({ network: { ...network, holdNodeAddress: true } });
    const text = (specification: typeof asked) =>
      prepareScript(specification, exampleMachine("w-1"), []).text;
    assert.match(text(asked), /foresail-own-address/);
    assert.doesNotMatch(text(exampleSpecification()), /foresail-own-address/);
    const { stderr, status } = spawnSync("bash", ["-n"], {
      input: `{\n${text(asked)}\n}\n`,
      encoding: "utf8",
    });
    assert.deepEqual([stderr, status], ["", 0]);
  });

  it("is given back by a reset, and a machine that was given none has nothing done to it", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "foresail-own-address-"));
    try {
      const file = path.join(folder, "own-address.service");
      for (const program of ["ip", "systemctl"])
        writeFileSync(path.join(folder, program), `#!/bin/sh\necho ${program} "$@"\n`, { mode: 0o755 });
      const lines = releaseOwnAddress().replaceAll("/etc/systemd/system/foresail-own-address.service", file);
      const release = () =>
        spawnSync("bash", ["-eu"], {
          input: lines,
          encoding: "utf8",
          env: { ...process.env, PATH: `${folder}:${process.env["PATH"]}` },
        }).stdout;
      assert.equal(release(), "");
      writeFileSync(file, "[Service]\nExecStart=/usr/local/lib/foresail/own-address 203.0.113.7\n");
      assert.equal(
        release(),
        "systemctl disable --quiet --now foresail-own-address\nip address delete 203.0.113.7/32 dev lo\n",
      );
      assert.equal(existsSync(file), false);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    assert.ok(resetScript("demo", "w-1").text.includes(releaseOwnAddress()));
  });
});
