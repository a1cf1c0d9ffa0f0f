# Prints what the compiler resolves, a line of tab-separated values for each fact, for elixir_oracle.py:
#   call <file> <line> <module> <name> <arity>   where code is compiled that calls a function or macro
#   define <file> <line> <module> <name> <arity>
#   compiled <file>
# Arguments: what to write, a folder for compiled modules, then files; those before "--" are compiled together, each of
# the others by itself.

defmodule CallTracer do
  def start(path) do
    {:ok, device} = File.open(path, [:write, :utf8, :delayed_write])
    :persistent_term.put(__MODULE__, device)
  end

  def stop, do: File.close(:persistent_term.get(__MODULE__))

  def say(values), do: IO.write(:persistent_term.get(__MODULE__), Enum.join(values, "\t") <> "\n")

  def trace({kind, meta, module, name, arity}, env)
      when kind in [:imported_function, :imported_macro, :remote_function, :remote_macro],
      do: call(meta, env, module, name, arity)

  def trace({kind, meta, name, arity}, env) when kind in [:local_function, :local_macro],
    do: call(meta, env, env.module, name, arity)

  def trace({:on_module, bytecode, _}, env) do
    with {:ok, {_, [debug_info: {:debug_info_v1, _, {:elixir_v1, map, _}}]}} <-
           :beam_lib.chunks(bytecode, [:debug_info]) do
      for {{name, arity}, _, meta, _} <- map.definitions, line = meta[:line] do
        say(["define", env.file, line, inspect(env.module), name, arity])
      end
    end

    :ok
  end

  def trace(_, _), do: :ok

  defp call(meta, env, module, name, arity) do
    say(["call", env.file, meta[:line] || env.line, inspect(module), name, arity])
    :ok
  end
end

[out, beams | files] = System.argv()
{together, alone} = Enum.split_while(files, &(&1 != "--"))
CallTracer.start(out)
Code.compiler_options(tracers: [CallTracer], ignore_module_conflict: true, debug_info: true, docs: true)
Code.prepend_path(beams)
Application.ensure_all_started(:ex_unit)
Mix.start()
ExUnit.start(autorun: false)

compile = fn paths ->
  try do
    case Kernel.ParallelCompiler.compile_to_path(paths, beams) do
      {:ok, _, _} -> for path <- paths, do: CallTracer.say(["compiled", Path.expand(path)])
      {:error, _, _} -> :ok
    end
  rescue
    error -> IO.puts(:stderr, Exception.message(error))
  end
end

compile.(together)
alone |> Enum.drop(1) |> Enum.each(&compile.([&1]))
CallTracer.stop()
System.halt(0)
