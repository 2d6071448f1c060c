import path from "node:path";
import { projectFolder } from "../paths";

/** The Python programs of the cloud; they run from the project's folder. */
export const pythonSources = path.join(projectFolder, "sandbox", "openstack", "python");

/** The folder of the sandbox's own cloud. */
export const sandboxCloudFolder = path.join(projectFolder, ".sandbox", "openstack");
