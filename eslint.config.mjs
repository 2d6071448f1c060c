import eslint from "@eslint/js";
import prettier from "eslint-config-prettier";
import tseslint from "typescript-eslint";

export default tseslint.config(
  {
    ignores: [".dependency-cruiser.cjs", "bin/", "node_modules/", ".sandbox/", "sandbox/toolchain/modules/"],
  },
  eslint.configs.recommended,
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: [
            "eslint.config.mjs",
            ".dependency-cruiser.cjs",
            "program.cjs",
            "scripts/*.cjs",
            "examples/github/foresail/*.mjs",
          ],
          // the few scripts above belong to no tsconfig
          maximumDefaultProjectFileMatchCount_THIS_WILL_SLOW_DOWN_LINTING: 30,
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
  {
    files: ["providers/handlers.ts"],
    rules: {
      // handlers.ts names modules to load when a resource of that kind is met, and no sooner
      "@typescript-eslint/no-require-imports": "off",
    },
  },
  // "npm run fields" writes it
  { files: ["providers/kubeadm/plan/validation/kubernetes-fields.ts"], rules: { "max-lines": "off" } },
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
