(* Calls of OCaml as its compiler resolves them: compile this file with the package compiler-libs.common, then run it at
   the root of a repository with the folder that holds its .cmt and .cmti files (`dune build @check` makes them).

   Kept are heads of applications, also beside the operators "@@" and "|>": what both sides name a call. A value is told
   by the place of its definition wherever the module is known that has it, whatever signature it was given; that of a
   parameter of a functor, by the place of its declaration.
   `language_oracle.py` judges by it. *)
open Typedtree

let rec files folder =
  Sys.readdir folder |> Array.to_list |> List.sort compare
  |> List.concat_map (fun name ->
         let path = Filename.concat folder name in
         if Sys.is_directory path then files path
         else if Filename.check_suffix path ".cmt" || Filename.check_suffix path ".cmti" then [ path ]
         else [])

type place = { file : string; offset : int; row : int }

(* By file, modules around, innermost first, and name: what an implementation defines or includes, what is an alias or is
   made by a functor, and what module types declare. *)
let values : (string * string list * string, place) Hashtbl.t = Hashtbl.create 999
let aliases : (string * string list, Path.t) Hashtbl.t = Hashtbl.create 99
let typed : (string * string list * string, place) Hashtbl.t = Hashtbl.create 999
let types : (string * int, string list * string) Hashtbl.t = Hashtbl.create 999 (* the same, by offset *)
let modules : (string * string, string list) Hashtbl.t = Hashtbl.create 999 (* those of a file, by name *)
let units : (string, string) Hashtbl.t = Hashtbl.create 99 (* compilation unit -> file *)
let declared : (string * int, string list * string) Hashtbl.t = Hashtbl.create 999 (* of signatures, by offset *)
let place_of (at : Location.t) =
  { file = at.loc_start.pos_fname; offset = at.loc_start.pos_cnum; row = at.loc_start.pos_lnum }

let implementation path = Filename.remove_extension path ^ ".ml"

let note_type (declaration : module_type_declaration) =
  let around = ref [ declaration.mtd_name.txt ] in
  let super = Tast_iterator.default_iterator in
  let module_declaration it (m : module_declaration) =
    match m.md_name.txt with
    | Some name -> around := name :: !around; super.module_declaration it m; around := List.tl !around
    | None -> () in
  let value_description _ (vd : value_description) =
    let at = place_of vd.val_loc in
    Hashtbl.replace typed (at.file, !around, vd.val_name.txt) at;
    Hashtbl.replace types (at.file, at.offset) (!around, vd.val_name.txt) in
  let it = { super with module_declaration; value_description } in
  it.module_type_declaration it declaration

let note_values path structure =
  let around = ref [] in
  let super = Tast_iterator.default_iterator in
  let module_binding it (b : module_binding) =
    match b.mb_name.txt with
    | Some name ->
      around := name :: !around;
      Hashtbl.add modules (path, name) !around;
      let rec made (e : module_expr) =
        match e.mod_desc with
        | Tmod_ident (p, _) -> Some p
        | Tmod_apply (f, _, _) | Tmod_constraint (f, _, _, _) -> made f
        | _ -> None in
      Option.iter (Hashtbl.replace aliases (path, !around)) (made b.mb_expr);
      super.module_binding it b;
      around := List.tl !around
    | None -> () in
  let structure_item it (item : structure_item) =
    (match item.str_desc with
    | Tstr_value (_, bindings) ->
      List.iter (fun (_, (name : string Location.loc), _) ->
          Hashtbl.replace values (path, !around, name.txt) (place_of name.loc)) (let_bound_idents_full bindings)
    | Tstr_primitive vd -> Hashtbl.replace values (path, !around, vd.val_name.txt) (place_of vd.val_loc)
    | _ -> ());
    super.structure_item it item in
  let value_description _ (vd : value_description) =
    let at = place_of vd.val_loc in
    Hashtbl.replace declared (at.file, at.offset) (!around, vd.val_name.txt) in
  let it = { super with module_binding; structure_item; value_description; expr = (fun _ _ -> ());
                        module_type_declaration = (fun _ d -> note_type d) } in
  it.structure it structure;
  let rec included around signature =
    List.iter (function
      | Types.Sig_value (id, vd, _) ->
        let key = (path, around, Ident.name id) in
        if not (Hashtbl.mem values key) then Hashtbl.replace values key (place_of vd.val_loc)
      | Types.Sig_module (id, _, { md_type = Mty_signature inner; _ }, _, _) -> included (Ident.name id :: around) inner
      | Types.Sig_module (id, _, { md_type = Mty_alias path_; _ }, _, _) ->
        if not (Hashtbl.mem aliases (path, Ident.name id :: around)) then
          Hashtbl.replace aliases (path, Ident.name id :: around) path_
      | _ -> ()) signature in
  included [] structure.str_type

let note_interface signature =
  let around = ref [] in
  let super = Tast_iterator.default_iterator in
  let module_declaration it (m : module_declaration) =
    match m.md_name.txt with
    | Some name -> around := name :: !around; super.module_declaration it m; around := List.tl !around
    | None -> () in
  let value_description _ (vd : value_description) =
    let at = place_of vd.val_loc in
    Hashtbl.replace declared (at.file, at.offset) (!around, vd.val_name.txt) in
  let it = { super with module_declaration; value_description; module_type_declaration = (fun _ d -> note_type d) } in
  it.signature it signature

(* Follow a declaration to what it declares; a module type of an interface is that of its implementation. *)
let rec follow depth at =
  match Hashtbl.find_opt types (at.file, at.offset), Hashtbl.find_opt declared (at.file, at.offset) with
  | Some (around, name), _ ->
    Option.value (Hashtbl.find_opt typed (implementation at.file, around, name)) ~default:at
  | None, Some (around, name) when depth < 9 -> (
    match find depth (implementation at.file) around name with Some found when found <> at -> found | _ -> at)
  | _ -> at

(* Return the definition of a name in a module of a file, through other names of modules and functors. *)
and find depth file around name =
  if depth > 9 then None
  else
    match Hashtbl.find_opt values (file, around, name), Hashtbl.find_opt aliases (file, around) with
    | _, Some path -> (
      match place_of_module file path with
      | Some (file, around) -> find (depth + 1) file around name
      | None -> Option.map (follow (depth + 1)) (Hashtbl.find_opt values (file, around, name)))
    | Some found, None -> Some (follow (depth + 1) found)
    | None, None -> None

and place_of_module file (path : Path.t) =
  match path with
  | Pident id when Ident.persistent id -> Option.map (fun f -> (f, [])) (Hashtbl.find_opt units (Ident.name id))
  | Pident id -> (
    match List.sort_uniq compare (Hashtbl.find_all modules (file, Ident.name id)) with
    | [ around ] -> Some (file, around)
    | _ -> None)
  | Pdot (p, name) -> (
    match place_of_module file p with
    | Some (file, around) -> (
      match Hashtbl.find_opt aliases (file, name :: around) with
      | Some path -> place_of_module file path
      | None -> Some (file, name :: around))
    | None -> None)
  | Papply (f, _) -> place_of_module file f

let tell (at : Location.t) path (vd : Types.value_description) =
  let name = Path.last path in
  let letter = name <> "" && (match name.[0] with 'a' .. 'z' | '_' -> true | _ -> false) in
  if letter && (not at.loc_ghost) && Sys.file_exists at.loc_start.pos_fname then begin
    let named =
      match path with
      | Path.Pdot (p, name) -> (
        match place_of_module at.loc_start.pos_fname p with
        | Some (file, around) -> find 0 file around name
        | None -> None)
      | _ -> None in
    let at_last = match named with Some found -> found | None -> follow 0 (place_of vd.val_loc) in
    let is_read = Filename.check_suffix at_last.file ".ml" && Sys.file_exists at_last.file in
    let { file = target; row = line; _ } = if is_read then at_last else place_of vd.val_loc in
    let targets =
      if vd.val_loc.loc_ghost || not (Sys.file_exists target) then "" else Printf.sprintf "[%S,%d]" target line in
    let local = match path with Path.Pident _ -> "true" | _ -> "false" in
    Printf.printf "{\"path\":%S,\"line\":%d,\"name\":%S,\"local\":%s,\"targets\":[%s]}\n" at.loc_start.pos_fname
      (* of a path, the last name is what is called *)
      at.loc_end.pos_lnum name local targets
  end

let is_operator names path = List.mem (Path.last path) names && Path.head path |> Ident.name = "Stdlib"
let ident (e : expression) = match e.exp_desc with Texp_ident (p, _, vd) -> Some (e.exp_loc, p, vd) | _ -> None

let walk structure =
  let super = Tast_iterator.default_iterator in
  let tell_if e = Option.iter (fun (at, p, vd) -> tell at p vd) (ident e) in
  let expr it (e : expression) =
    (match e.exp_desc with
    | Texp_apply ({ exp_desc = Texp_ident (p, _, _); _ }, [ (_, Some f); _ ]) when is_operator [ "@@" ] p -> tell_if f
    | Texp_apply ({ exp_desc = Texp_ident (p, _, _); _ }, [ _; (_, Some f) ]) when is_operator [ "|>" ] p -> tell_if f
    | Texp_apply (f, _) -> tell_if f
    | _ -> ());
    super.expr it e in
  let it = { super with expr } in
  it.structure it structure

let () =
  let read = List.map Cmt_format.read_cmt (files Sys.argv.(1)) in
  List.iter (fun (cmt : Cmt_format.cmt_infos) ->
      match cmt.cmt_annots, cmt.cmt_sourcefile with
      | Implementation structure, Some path -> Hashtbl.replace units cmt.cmt_modname path; note_values path structure
      | Interface signature, _ -> note_interface signature
      | _ -> ()) read;
  List.iter (fun (cmt : Cmt_format.cmt_infos) ->
      match cmt.cmt_annots with Implementation structure -> walk structure | _ -> ()) read
