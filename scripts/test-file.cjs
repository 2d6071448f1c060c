// `npm run test:file -- FILE [mocha's options]`: runs test files within a second after an edit. It translates the sources that
// changed without checking their types, which `npm run watch` and `npm run build` do; the next build compiles all.
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");
const { modified } = require("./build-age.cjs");

// npm runs scripts in the folder of the package
const root = process.cwd();
const bin = (...names) => path.join(root, "bin", ...names);

function stop(why) {
  console.error(`foresail: ${why}`);
  process.exit(2);
}

/** Translates each source that is newer than its translation, and these files. */
function translateChanged(tests) {
  let isChanged = false;
  const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  for (const source of [...fileNames.filter((name) => !name.endsWith(".d.ts")), ...tests]) {
    const target = compiled(source);
    if (modified(target) > modified(source)) continue;
    isChanged = true;
    const { outputText, sourceMapText } = ts.transpileModule(fs.readFileSync(source, "utf8"), {
      compilerOptions: { ...options, composite: false, declaration: false, incremental: false },
      fileName: source,
    });
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, outputText);
    fs.writeFileSync(`${target}.map`, sourceMapText);
  }
  // tsc compares sources with what it has compiled itself: an edit that is undone would stay in bin
  if (isChanged) fs.rmSync(bin("tsconfig.tsbuildinfo"), { force: true });
}

const compiled = (source) => bin(path.relative(root, source).replace(/\.ts$/, ".js"));

const given = process.argv.slice(2);
const sources = given.filter((argument) => argument.endsWith(".test.ts"));
const options = given.filter((argument) => !sources.includes(argument));
if (sources.length === 0)
  stop("no test file is named; run for example: npm run test:file -- test/unit/lib/wait.test.ts");
const missing = sources.find((source) => !fs.existsSync(path.resolve(source)));
if (missing !== undefined) stop(`${missing} does not exist`);
if (modified(bin("index.js")) === 0) stop("nothing is built yet; run: npm run build");
const tests = sources.map((source) => path.resolve(source));
translateChanged(tests);
const mocha = [require.resolve("mocha/bin/mocha.js"), ...options, ...tests.map(compiled)];
process.exitCode = spawnSync(process.execPath, mocha, { cwd: root, stdio: "inherit" }).status ?? 1;
