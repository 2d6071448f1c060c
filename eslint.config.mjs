import eslint from "@eslint/js";
import prettier from "eslint-config-prettier";
import tseslint from "typescript-eslint";

/** The layers from the top down; a file imports only from rows below its own (docs/adr/0001-layers.md). */
const LAYERS = ["stacks", "components", "providers", "clients", "core"];

/** What a folder may not import: the layers above it, and whatever only a developer's machine has. */
function layer(name) {
  const above = [...LAYERS.slice(0, LAYERS.indexOf(name)), "fleet", "sandbox", "test", "bench", "scripts"];
  const knowsPulumi = ["stacks", "components", "providers"].includes(name);
  return {
    files: [`${name}/**/*.ts`],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            {
              group: above.map((other) => `**/${other}/**`),
              message: `${name}/ imports only from layers below it`,
            },
            ...(knowsPulumi ? [] : [{ group: ["@pulumi/*"], message: `${name}/ does not know Pulumi` }]),
            ...(name === "core"
              ? [
                  {
                    group: [
                      "node:fs*",
                      "node:net",
                      "node:http*",
                      "node:child_process",
                      "ssh2",
                      "@kubernetes/*",
                    ],
                    message: "core/ does no I/O",
                  },
                ]
              : []),
          ],
        },
      ],
    },
  };
}

export default tseslint.config(
  { ignores: ["bin/", "node_modules/", ".sandbox/", "sandbox/toolchain/modules/"] },
  eslint.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: ["eslint.config.mjs", "scripts/*.cjs", "examples/github/foresail/*.mjs"],
        },
        tsconfigRootDir: import.meta.dirname,
      },
    },
  },
  {
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      eqeqeq: "error",
      "max-lines": ["error", { max: 320, skipBlankLines: true, skipComments: true }],
    },
  },
  ...LAYERS.map(layer),
  {
    files: ["providers/**/*.ts", "providers/*.ts"],
    rules: {
      // handlers.ts names modules to load when a resource of that kind is met, and no sooner
      "@typescript-eslint/no-require-imports": "off",
    },
  },
  { files: ["test/**/*.ts"], rules: { "@typescript-eslint/no-non-null-assertion": "off" } },
  {
    files: ["**/*.cjs", "**/*.mjs"],
    ...tseslint.configs.disableTypeChecked,
    languageOptions: {
      globals: {
        process: "readonly",
        console: "readonly",
        require: "readonly",
        module: "readonly",
        __dirname: "readonly",
        fetch: "readonly",
        AbortSignal: "readonly",
      },
    },
  },
  { files: ["**/*.cjs"], rules: { "@typescript-eslint/no-require-imports": "off" } },
  prettier,
);
