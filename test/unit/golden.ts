import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const FOLDER = resolve(__dirname, "../../../test/unit/golden");

/**
 * Compares a rendered text with the file that was reviewed. `UPDATE_GOLDEN=1 npm run test:unit` writes the
 * files again; the diff is then what a reviewer reads.
 */
export function assertGolden(name: string, text: string): void {
  const path = resolve(FOLDER, name);
  if (process.env.UPDATE_GOLDEN) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  assert.ok(existsSync(path), `there is no golden file ${name}; make it with UPDATE_GOLDEN=1`);
  assert.equal(text, readFileSync(path, "utf8"));
}
