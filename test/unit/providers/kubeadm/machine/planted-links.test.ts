import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { once } from "node:events";
import { ShellMachine } from "./run-shell";

const HOME = "/opt/home";
const ROOT_ONLY = "/opt/root";
const SECRET = "text of root\n";

/** Swaps a user's folder, and whatever appears in it, for links to a folder of root, as fast as it can. */
const ATTACKER = `
const fs = require("node:fs");
const [home, target] = process.argv.slice(1);
const attempt = (call) => { try { call(); } catch {} };
process.stdout.write("ready");
for (let round = 0; ; round++) {
  attempt(() => fs.renameSync(home + "/conf", home + "/real"));
  attempt(() => fs.symlinkSync(target, home + "/conf"));
  attempt(() => fs.unlinkSync(home + "/conf"));
  attempt(() => fs.renameSync(home + "/real", home + "/conf"));
  attempt(() => {
    for (const name of fs.readdirSync(home + "/conf")) {
      const entry = home + "/conf/" + name;
      if (name !== "app.yaml") {
        attempt(() => fs.renameSync(entry, home + "/taken" + round));
        attempt(() => fs.symlinkSync(target, entry));
      } else if (round % 2) {
        attempt(() => fs.unlinkSync(entry));
        attempt(() => fs.symlinkSync(target + "/app.yaml", entry));
      }
    }
  });
}`;

/** Commands that root repeats on a user's file, with the functions that they need. */
const PRIMITIVES: Record<string, { functions: Record<string, string[] | "all">; commands: string }> = {
  "records a file before it is written, and gives it back": {
    functions: { "common/settings": "all", "common/restore": "all" },
    commands: `rm -rf "$BEFORE_PATH"; mkdir -p "$BEFORE_PATH"; touch "$BEFORE_PATH/pods"; FILE_CONTENTS=("round $round"); write_user_files
      if grep -rqsF "text of root" "$BEFORE_PATH"; then echo LEAKED; fi
      restore_files "$BEFORE_PATH/paths" "$BEFORE_PATH/files"`,
  },
  "writes a file": {
    functions: { "common/settings": "all" },
    commands: 'FILE_CONTENTS=("round $round"); write_user_files',
  },
  "removes a file": {
    functions: { "common/settings": "all" },
    commands: "remove_file /opt/home/conf/app.yaml",
  },
  "keeps a file before a change, and puts it back": {
    functions: {
      "common/settings": "all",
      "common/adopted": "all",
      "node-agent/configuration": "all",
    },
    commands: `rm -rf "$AGENT_PATH"; mkdir -p "$previous"; keep_files <<</opt/home/conf/app.yaml
      if grep -rqsF "text of root" "$previous"; then echo LEAKED; fi
      mkdir -p "$previous/files/opt/home/conf"; echo "of the user" >"$previous/files/opt/home/conf/app.yaml"
      is_containerd_changed() { return 1; }; restore_configuration`,
  },
};

describe("root's work in a folder of a user", function () {
  this.timeout(60_000);
  let machine: ShellMachine;
  let attacker: ChildProcess | undefined;

  beforeEach(() => {
    machine = new ShellMachine();
    machine.write(`${HOME}/conf/app.yaml`, "of the user\n");
    machine.write(`${ROOT_ONLY}/app.yaml`, SECRET, 0o600);
    // as it is for root when another user owns them
    for (const folder of [HOME, `${HOME}/conf`]) chmodSync(machine.path(folder), 0o777);
  });
  afterEach(async () => {
    if (attacker?.kill("SIGKILL")) await once(attacker, "exit");
    attacker = undefined;
  });

  const parameters = {
    CA_BUNDLE: "",
    REGISTRIES: [],
    REMOVED_PATHS: [],
    FILE_PATHS: [`${HOME}/conf/app.yaml`],
    FILE_MODES: ["0644"],
    FILE_OWNERS: [`${process.getuid!()}:${process.getgid!()}`],
    FILE_CONTENTS: ["port: 1"],
  };

  function assertUntouched() {
    assert.deepEqual(readdirSync(machine.path(ROOT_ONLY)), ["app.yaml"]);
    const file = machine.path(`${ROOT_ONLY}/app.yaml`);
    assert.deepEqual([readFileSync(file, "utf8"), statSync(file).mode & 0o777], [SECRET, 0o600]);
  }

  for (const [what, { functions, commands }] of Object.entries(PRIMITIVES))
    it(`${what} and touches nothing of root's while that user swaps names for links`, async () => {
      attacker = spawn(process.execPath, ["-e", ATTACKER, machine.path(HOME), machine.path(ROOT_ONLY)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(attacker.stdout!, "data");
      const { stdout } = machine.run(
        functions,
        parameters,
        `for round in $(seq 25); do (set -e; changed=no; ${commands}) || true; done; echo ended`,
      );
      assert.match(stdout, /ended\n$/);
      assert.doesNotMatch(stdout, /LEAKED/);
      assertUntouched();
    });

  it("refuses a folder that the user made a link, with its path and what to do", () => {
    const { root } = machine;
    symlinkSync(machine.path(ROOT_ONLY), machine.path(`${HOME}/link`));
    const paths = { ...parameters, FILE_PATHS: [`${HOME}/link/app.yaml`] };
    const { status, stdout } = machine.run({ "common/settings": "all" }, paths, "write_user_files");
    assert.equal(status, 1);
    assert.match(
      stdout.replaceAll(root, ""),
      /^\/opt\/home\/link is a symbolic link.*use the path that it leads to/,
    );
    assertUntouched();
  });

  it("follows a link of root, and creates missing folders in the user's", () => {
    const at = (file: string) => readFileSync(machine.path(file), "utf8");
    symlinkSync("home/conf", machine.path("/opt/alias"));
    const paths = { ...parameters, FILE_PATHS: ["/opt/alias/new/app.yaml"], FILE_MODES: ["0640"] };
    for (const expected of ["yes", "no"]) {
      const { stdout, stderr } = machine.run(
        { "common/settings": "all" },
        paths,
        "changed=no; write_user_files; echo $changed",
      );
      assert.deepEqual([stdout, stderr], [`${expected}\n`, ""]);
    }
    assert.equal(at(`${HOME}/conf/new/app.yaml`), "port: 1\n");
    assert.equal(statSync(machine.path(`${HOME}/conf/new/app.yaml`)).mode & 0o777, 0o640);
    assert.deepEqual(readdirSync(machine.path(`${HOME}/conf/new`)), ["app.yaml"]);
  });

  it("replaces a link, a named pipe and nothing else of them in the place of its file", () => {
    for (const plant of [
      `ln -sf ${machine.path(ROOT_ONLY)}/app.yaml`,
      `ln -sf ${machine.path(ROOT_ONLY)}/absent`,
      "mkfifo",
    ]) {
      const file = machine.path(`${HOME}/conf/app.yaml`);
      assert.equal(spawnSync("bash", ["-c", `rm -f ${file}; ${plant} ${file}`]).status, 0);
      const { status } = machine.run(
        { "common/settings": "all" },
        parameters,
        "timeout 20 true; write_user_files",
      );
      assert.equal(status, 0);
      assert.equal(readFileSync(file, "utf8"), "port: 1\n");
      assertUntouched();
    }
  });

  it("keeps its log out of a folder that others may write or made a link", () => {
    for (const plant of ["mkdir -m 0777 foresail", `ln -s ${machine.path(ROOT_ONLY)} foresail`]) {
      const host = new ShellMachine();
      for (const folder of ["/run", "/etc", "/var/log", "/var/lib"]) host.write(`${folder}/README`, "");
      mkdirSync(host.path("/etc/foresail"));
      spawnSync("bash", ["-c", `cd ${host.path("/var/log")} && ${plant}`]);
      const { status, stderr } = host.run({ "common/frame": "all" }, { OPERATION: "facts" }, "echo never");
      assert.equal(status, 73);
      assert.match(stderr, /is not a folder in which only root may write.*rm -rf/);
      assertUntouched();
    }
  });
});
