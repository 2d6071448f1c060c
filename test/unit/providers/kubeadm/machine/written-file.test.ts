import assert from "node:assert/strict";
import { chmodSync, readFileSync, statSync } from "node:fs";
import { ShellMachine } from "./run-shell";

const CONTENT = "a 'b' \"c\" $HOME `id` \\n\n\nEND";
const FILE = "/opt/a b/c";

describe("a file that a step writes", () => {
  const machine = new ShellMachine();
  const written = () => {
    const { stdout, stderr } = machine.run(
      {},
      { CONTENT },
      `changed=no; write_file "${FILE}" 0640 <<<"$CONTENT"; stat -c %a "${FILE}"; echo $changed`,
    );
    assert.equal(stderr, "");
    return stdout;
  };

  it("has the text byte for byte, whatever it contains, and its mode", () => {
    assert.equal(written(), "640\nyes\n");
    assert.equal(readFileSync(machine.path(FILE), "utf8"), `${CONTENT}\n`);
  });

  it("is left alone when it is so already, and gets its mode back", () => {
    const { ino } = statSync(machine.path(FILE));
    assert.equal(written(), "640\nno\n");
    assert.equal(statSync(machine.path(FILE)).ino, ino);
    chmodSync(machine.path(FILE), 0o666);
    assert.equal(written(), "640\nno\n");
  });

  it("gets a mode with setgid after its owner, which clears the bit", () => {
    const owned = new ShellMachine();
    owned.program("chown", 'chmod g-s "$2"; echo "chown $1"');
    const parameters = {
      FILE_PATHS: ["/opt/a", "/opt/b"],
      FILE_MODES: ["2755", "0600"],
      FILE_OWNERS: ["1000:1000", ""],
      FILE_CONTENTS: ["x", "y\n\n"],
    };
    const { stdout } = owned.run(
      { "common/settings": "all" },
      parameters,
      "write_user_files; stat -c %a /opt/a /opt/b; cat /opt/a /opt/b",
    );
    assert.equal(stdout, "chown 1000:1000\n2755\n600\nx\ny\n\n");
  });
});
