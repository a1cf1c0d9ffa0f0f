# A formula for a tap: brew install causalist/tap/causalist
class Causalist < Formula
  desc "Answers questions about a code base with the code itself"
  homepage "https://github.com/causalist/causalist"
  url "https://github.com/causalist/causalist.git", tag: "v0.2.0"
  license "MIT"
  head "https://github.com/causalist/causalist.git", branch: "main"

  depends_on "python@3.13"

  def install
    # Dependencies are wheels of the package index: grammars and numeric libraries need no compiler then.
    system Formula["python@3.13"].opt_bin/"python3.13", "-m", "venv", libexec
    system libexec/"bin/pip", "install", "#{buildpath}[lsp,mcp,watch,web]"
    bin.install_symlink libexec/"bin/causalist"
    generate_completions_from_executable(bin/"causalist", shell_parameter_format: :click)
  end

  test do
    (testpath/"cart.py").write "def total(lines):\n    return sum(lines)\n"
    assert_match "cart.py", shell_output("#{bin}/causalist find total --repo #{testpath}")
  end
end
