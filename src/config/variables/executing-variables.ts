/**
 * Environment variables that make a program run other code than its command line says, find another program
 * under the same name, or fetch its code from elsewhere. A name that ends with `*` stands for all that begin
 * so. Whoever approves a launch sees their values whatever they look like.
 */
const executingVariables: Readonly<Record<string, string>> = {
  "which file a name stands for, what is loaded into every process":
    "PATH PATHEXT LD_* DYLD_* GCONV_PATH GLIBC_TUNABLES LOCPATH COMSPEC SYSTEMROOT WINDIR PSMODULEPATH",
  shells:
    "BASH_ENV BASH_FUNC_* ENV SHELL SHELLOPTS BASHOPTS IFS PS4 ZDOTDIR PROMPT_COMMAND CDPATH FPATH",
  "where programs look for settings, which may name code":
    "HOME USERPROFILE APPDATA LOCALAPPDATA XDG_*",
  "programs that others start":
    "EDITOR VISUAL PAGER BROWSER LESSOPEN LESSCLOSE MANPAGER SSH_ASKPASS SUDO_ASKPASS GIT_*",
  "Node and its package managers":
    "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED " +
    "ELECTRON_RUN_AS_NODE TSX_* TS_NODE_* NPM_* YARN_* PNPM_* COREPACK_* BUN_* DENO_* VOLTA_*",
  "Python and its package managers":
    "PYTHON* VIRTUAL_ENV CONDA_* PIP_* PIPX_* UV_* POETRY_* PYENV_*",
  "other languages":
    "PERL5* PERLLIB PERL_* RUBY* GEM_* BUNDLE_* LUA_* PHPRC PHP_INI_SCAN_DIR R_* JULIA_* CLASSPATH " +
    "JAVA_HOME JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS MAVEN_OPTS GRADLE_OPTS DOTNET_* " +
    "CORECLR_* COR_* GOFLAGS GOROOT GOPROXY GOTOOLCHAIN CARGO_* RUSTC* RUSTUP_* ERL_* GUILE_* " +
    "ELIXIR_ERL_OPTIONS TCLLIBPATH",
  "libraries that load modules, containers":
    "OPENSSL_* GTK_MODULES GTK_PATH GIO_* QT_PLUGIN_PATH DOCKER_*",
};

const patterns = Object.values(executingVariables).flatMap((names) => names.split(" "));
const wholeNames = new Set(patterns.filter((name) => !name.endsWith("*")));
const beginnings = patterns.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));

/**
 * Whether a variable of this name changes what is executed. Case is ignored, because some programs ignore
 * it.
 */
export function changesExecution(name: string): boolean {
  const upper = name.toUpperCase();
  return wholeNames.has(upper) || beginnings.some((beginning) => upper.startsWith(beginning));
}
