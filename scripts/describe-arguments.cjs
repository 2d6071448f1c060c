// A step of `npm run build`: writes the descriptions of the schema into the types of the components' arguments, since
// editors show no comments through types that are derived.
const fs = require("node:fs");
const path = require("node:path");
const ts = require("typescript");

/** Interface of a component's arguments → the section of a stack file that it has the fields of. */
const INTERFACES = {
  "components/kubeadm/kubeadm-cluster-args": {
    KubeadmClusterArgs: ["cluster", "ClusterInput"],
    MachineArgs: ["machine", "MachineInput"],
    SshArgs: ["cluster", "SshConfiguration"],
  },
  "components/openstack/openstack-cluster-args": { OpenstackClusterArgs: ["openstack", "OpenstackSection"] },
  "components/tumblebug/tumblebug-cluster-args": { TumblebugClusterArgs: ["tumblebug", "TumblebugSection"] },
  "components/machine-pool/machine-pool-args": { MachinePoolArgs: ["machine-pool", "MachinePoolSection"] },
};

/** Returns a declaration file's text in which interfaces have described members of the types that they have already. */
function describe(file, checker, schemas) {
  const inserted = file.statements.filter(ts.isInterfaceDeclaration).flatMap((declaration) => {
    const schema = schemas[declaration.name.text];
    if (schema === undefined) return [];
    const bases = declaration.heritageClauses.flatMap(({ types }) =>
      types.map((type) => `(${type.getText()})`),
    );
    const own = declaration.members.map((each) => each.name?.getText());
    const type = checker.getTypeAtLocation(declaration);
    const members = Object.entries(schema.shape).flatMap(([name, { description }]) => {
      const property = type.getProperty(name);
      if (property === undefined || description === undefined || own.includes(name)) return [];
      const mark = property.flags & ts.SymbolFlags.Optional ? "?" : "";
      const comment = `    /** ${description.replaceAll("*/", "*\\/")} */`;
      return `\n${comment}\n    ${name}${mark}: Required<${bases.join(" & ")}>["${name}"];`;
    });
    return [{ at: declaration.members.pos, members: members.join("") }];
  });
  // from the end, so that the places of the others stay
  return inserted
    .reverse()
    .reduce((result, { at, members }) => result.slice(0, at) + members + result.slice(at), file.text);
}

/** Describes the interfaces of a compiled project. Twice is once: a member of its own is not written again. */
function describeArguments(bin, code = bin) {
  const files = Object.keys(INTERFACES).map((name) => path.join(bin, `${name}.d.ts`));
  const program = ts.createProgram(files, {
    ...{ module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16 },
    ...{ strict: true, skipLibCheck: true, noEmit: true, types: [] },
  });
  const checker = program.getTypeChecker();
  const described = Object.values(INTERFACES).map((interfaces, index) => {
    const schemas = Object.entries(interfaces).map(([type, [module, schema]]) => [
      type,
      require(path.join(code, "stacks/schema", module))[schema],
    ]);
    return describe(program.getSourceFile(files[index]), checker, Object.fromEntries(schemas));
  });
  described.forEach((text, index) => fs.writeFileSync(files[index], text));
}

module.exports = { describeArguments };
